// The transform `rounded` in JavaScript: every value column of numbers, rounded to some decimal
// places. Reads and writes the buffers of the Arrow C data interface as typed arrays; columns that
// are only passed on stay with the host.

export const transform = {
  describe() {
    return {
      name: "rounded",
      version: "1.0.0",
      title: "Rounded",
      // A result depends on its own row alone.
      independent: true,
      parameters: [
        {
          name: "digits",
          kind: "integer",
          default: "0",
          allowed: ["0", "1", "2", "3"],
          docs: "Decimal places, halves away from zero.",
        },
      ],
      docs: "Every value column of numbers, rounded to decimal places.",
    };
  },

  plan(schema) {
    const columns = rounded(schema).map((column) => ({ column, form: "plain" }));
    if (columns.length === 0) {
      const val = "no value column holds numbers; apply rounded to a table with one";
      throw { tag: "unsupported-schema", val };
    }
    return { columns, groups: undefined, before: undefined, prime: { tag: "none" } };
  },

  Transforming: class Transforming {
    static open(schema, codes, options) {
      const opened = new Transforming();
      opened.schema = schema;
      opened.factor = 10 ** Number(options[0].value.val);
      return opened;
    }

    output() {
      const made = rounded(this.schema);
      const columns = this.schema.fields.map((field, position) => ({
        name: field.name,
        source: made.includes(position) ? { tag: "made", val: "number" } : { tag: "passed", val: position },
        role: fact(field, "yearbook.role"),
        unit: fact(field, "yearbook.unit"),
        valuesOf: undefined,
      }));
      return { columns, rows: "same", order: [] };
    }

    prime() {}

    push(batch) {
      const buffers = batch.arrays.flatMap((array, position) => {
        const [validity, values] = batch.buffers.slice(2 * position, 2 * position + 2);
        // A copy, which begins where a number may.
        const numbers = new Float64Array(values.slice().buffer, 0, array.length);
        const out = numbers.map((value) => this.round(value));
        return [validity, new Uint8Array(out.buffer)];
      });
      const arrays = batch.arrays.map(({ length, nullCount }) => ({ length, nullCount, buffers: 2, repeated: false }));
      return { rows: batch.rows, take: [], groups: new Uint32Array(), arrays, buffers };
    }

    finish() {
      return undefined;
    }

    round(value) {
      const scaled = Math.abs(value) * this.factor;
      // Beyond 2^52 a number has no decimal places, and 1e308 no room for the factor.
      return scaled < 2 ** 52 ? (Math.sign(value) * Math.round(scaled)) / this.factor : value;
    }
  },
};

function fact(field, key) {
  return field.metadata.find((pair) => pair.key === key)?.value;
}

// Positions of the value columns of numbers.
function rounded(schema) {
  const positions = schema.fields.map((field, position) => [field, position]);
  return positions.filter(([field]) => field.format === "g" && fact(field, "yearbook.role") === "value").map(([, position]) => position);
}
