// The integration `javascript` in JavaScript: a module for Node, Deno, Bun and browsers that reads
// the chosen datasets page by page with `fetch` and nothing else (spec-4.4-datasets).

const KEY = "SERVICE_API_KEY";

// Rows of a page: a few megabytes of JSON.
const PAGE = 20_000n;

export const generator = {
  describe() {
    return {
      tool: "javascript",
      version: "1.0.0",
      title: "JavaScript",
      parameters: [
        {
          name: "geometry",
          kind: "boolean",
          default: "false",
          allowed: [],
          docs: "Whether spatial datasets come with `geometry_wkt`.",
        },
      ],
      docs:
        "An ES module without dependencies: `rows(name)` yields the rows of a dataset page after page, all of one snapshot, and waits " +
        "where the service asks for patience. The key comes from the environment.",
    };
  },

  generate(request) {
    const geometry = request.options[0].value.val;
    const page = smaller(PAGE, request.plan.rowCap);
    const warnings = told(request, page);
    return {
      files: [
        file("yearbook.mjs", "text/javascript; charset=utf-8", library(request, page, geometry)),
        file("example.mjs", "text/javascript; charset=utf-8", EXAMPLE),
        file("README.md", "text/markdown; charset=utf-8", readme(request, warnings)),
      ],
      warnings,
    };
  },
};

// `option<u64>` is undefined or a BigInt.
function smaller(wanted, cap) {
  return cap !== undefined && cap < wanted ? cap : wanted;
}

function file(path, mediaType, content) {
  return { path, mediaType, content: new TextEncoder().encode(content) };
}

// A value as JavaScript source. JSON is JavaScript, and what ends a script element is kept from
// doing so where the module is put into a page.
function source(value, indent) {
  return JSON.stringify(value, null, indent).replaceAll("</", "<\\/");
}

function oneLine(text) {
  return text.split(/\s+/).filter(Boolean).join(" ");
}

function requests(dataset, page) {
  return dataset.rows === 0n ? 1n : (dataset.rows + page - 1n) / page;
}

function told(request, page) {
  const { plan, datasets } = request;
  const warnings = [];
  const run = datasets.reduce((sum, dataset) => sum + requests(dataset, page), 0n);
  if (plan.monthlyRequests !== undefined) {
    const runs = plan.monthlyRequests / run;
    const fits = runs === 0n ? "not one run fits into a month" : runs === 1n ? "one run fits into a month" : `${runs} runs fit into a month`;
    warnings.push(`Reading everything costs ${run} ${run === 1n ? "request" : "requests"}, and the ${plan.name} plan has ${plan.monthlyRequests} a month: ${fits}.`);
  }
  const integers = datasets.filter((dataset) => dataset.columns.some((column) => column.type === "integer"));
  if (integers.length > 0) {
    const names = integers.map((dataset) => dataset.name).join(", ");
    warnings.push(`JavaScript's numbers hold integers exactly up to 2^53 - 1; beyond that, those of ${names} would lose digits.`);
  }
  return warnings;
}

function library(request, page, geometry) {
  const described = Object.fromEntries(
    request.datasets.map((dataset) => [
      dataset.name,
      {
        title: dataset.title ?? dataset.name,
        source: dataset.source,
        licence: dataset.licence,
        attribution: dataset.attribution,
        primaryKey: dataset.primaryKey,
        columns: Object.fromEntries(
          dataset.columns
            .filter((column) => geometry || column.role !== "geometry")
            .map((column) => [column.name, { type: column.type, nullable: column.nullable, unit: column.unit ?? null }]),
        ),
      },
    ]),
  );
  return `// Public statistics as JavaScript objects. The attributions below must be passed on with the data, word for word.

/** What can be read: credits and columns of each dataset. */
export const datasets = ${source(described, 2)};

const BASE = ${source(request.baseUrl)};
const PAGE = ${page};
const GEOMETRY = ${geometry};

function environment() {
  const key = globalThis.Deno?.env.get("${KEY}") ?? globalThis.process?.env.${KEY};
  if (!key) throw new Error("set ${KEY} to your key, or pass { key }");
  return key;
}

/**
 * All rows of a dataset, from one snapshot. \`query\` goes to the service as it stands: { start: "2020-01-01" }.
 * @yields {object} a row
 */
export async function* rows(name, query = {}, { key = environment() } = {}) {
  if (!Object.hasOwn(datasets, name)) throw new Error(\`\${name} is not among \${Object.keys(datasets).join(", ")}\`);
  const asked = { format: "json", limit: PAGE, geometry: GEOMETRY, ...query };
  for (let cursor; ; ) {
    const address = new URL(\`\${BASE}/v1/datasets/\${name}/data\`);
    for (const [parameter, value] of Object.entries(asked)) address.searchParams.set(parameter, value);
    if (cursor) address.searchParams.set("cursor", cursor);
    const response = await patient(address, key);
    yield* await response.json();
    cursor = response.headers.get("X-Next-Page");
    if (!cursor) return;
  }
}

/** A response, after as many waits as the service asks for. */
async function patient(address, key) {
  for (;;) {
    const response = await fetch(address, { headers: { "X-API-Key": key } });
    if (response.ok) return response;
    const wait = Number(response.headers.get("Retry-After"));
    // A month's requests that are used up are not worth waiting for.
    if (![429, 503].includes(response.status) || !(wait > 0 && wait <= 60)) {
      throw new Error(\`\${response.status}: \${await response.text()}\`);
    }
    await response.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, wait * 1000));
  }
}
`;
}

const EXAMPLE = `// How many rows each dataset has, and its first: node example.mjs
import { datasets, rows } from "./yearbook.mjs";

for (const name of Object.keys(datasets)) {
  let count = 0;
  let first = null;
  for await (const row of rows(name)) {
    first ??= row;
    count += 1;
  }
  console.log(JSON.stringify({ name, count, first }));
}
`;

function readme(request, warnings) {
  const credits = request.datasets.map((dataset) => {
    const from = dataset.sourceUrl === undefined ? "" : `, <${oneLine(dataset.sourceUrl)}>`;
    return `- \`${dataset.name}\`: ${oneLine(dataset.attribution)}  \n  Source: ${oneLine(dataset.source)}${from}. Licence: ${oneLine(dataset.licence)}.`;
  });
  const notes = warnings.length === 0 ? [] : ["", "## To know", "", ...warnings.map((warning) => `- ${warning}`)];
  return [
    `# JavaScript for ${request.baseUrl}`,
    "",
    "```sh",
    `export ${KEY}=…    # your key; it stands in no file`,
    "node example.mjs    # Node 18 or later, Deno, Bun",
    "```",
    "",
    "`yearbook.mjs` exports `datasets` and `rows(name, query)`, an asynchronous generator:",
    "",
    "```js",
    'import { rows } from "./yearbook.mjs";',
    "",
    `for await (const row of rows(${source(request.datasets[0].name)})) console.log(row);`,
    "```",
    ...notes,
    "",
    "## Credits",
    "",
    "These must be passed on with the data, word for word.",
    "",
    ...credits,
    "",
  ].join("\n");
}
