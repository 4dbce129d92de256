// Shows the OpenAPI document of the service that this page came from, and asks the service on demand. Builds nodes, never
// HTML from text, so nothing in a description is ever more than text. No library, no other host.

const BODY_SHOWN = 20_000; // characters of an answer that are shown

const byId = (id) => document.getElementById(id);

/** An element with attributes and children; strings become text. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

/** Text in which `code` stands between backquotes. */
const prose = (text) => (text ?? "").split("`").map((part, index) => (index % 2 ? make("code", {}, part) : part));
const paragraphs = (text) => (text ?? "").split("\n\n").map((part) => make("p", {}, ...prose(part)));
const block = (text) => make("pre", { tabindex: "0" }, make("code", {}, text));
const pretty = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

let api;
const resolve = (item) => (item?.$ref ? item.$ref.slice(2).split("/").reduce((at, step) => at[step], api) : item);

/** A schema in a few words; `depth` keeps schemas that contain themselves finite. */
function kind(schema, depth = 0) {
  if (!schema || depth > 4) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map((choice) => kind(choice, depth + 1)).join(" or ");
  if (schema.enum) return schema.enum.map((word) => JSON.stringify(word)).join(", ");
  const types = [schema.type ?? "any"].flat();
  const named = types.map((type) => (type === "array" ? `array of ${kind(schema.items, depth + 1) || "any"}` : type));
  return named.join(" or ") + (schema.format ? ` (${schema.format})` : "");
}

/** What a schema demands besides its type. */
function rules(schema) {
  const said = [];
  if (schema.default !== undefined) said.push(`default ${JSON.stringify(schema.default)}`);
  if (schema.minimum !== undefined) said.push(`at least ${schema.minimum}`);
  if (schema.pattern) said.push(`like ${schema.pattern}`);
  return said.join(", ");
}

/** Properties of an object schema, those inside of it folded away. */
function shape(schema, seen = []) {
  const named = schema.$ref;
  if (named && seen.includes(named)) return undefined;
  const here = named ? [...seen, named] : seen;
  const whole = resolve(schema);
  if (whole.anyOf) return make("div", {}, ...whole.anyOf.map((choice) => shape(choice, here)).filter(Boolean));
  if (whole.items) return shape(whole.items, here);
  if (!whole.properties) return undefined;
  const rows = Object.entries(whole.properties).map(([name, property]) => {
    const inner = shape(property, here);
    return make(
      "tr", {},
      make("th", { scope: "row" }, make("code", {}, name)),
      make("td", {},
        make("p", {}, make("code", {}, kind(property)), whole.required?.includes(name) ? "" : " (may be missing)"),
        ...prose(resolve(property).description),
        inner && make("details", {}, make("summary", {}, "what is in it"), inner)),
    );
  });
  return make("div", { class: "scroll" }, make("table", {}, make("tbody", {}, ...rows)));
}

function field(parameter, id) {
  const { schema } = parameter;
  const choices = schema.type === "boolean" ? [true, false] : schema.enum;
  if (choices) {
    const options = choices.map((word) => make("option", { value: String(word) }, JSON.stringify(word)));
    return make("select", { id, name: parameter.name }, make("option", { value: "" }, "(left out)"), ...options);
  }
  // An example that would find nothing is only hinted at.
  return make("input", {
    id, name: parameter.name, type: "text", placeholder: String(parameter.example ?? ""), spellcheck: "false", autocomplete: "off",
    required: parameter.required, "data-in": parameter.in,
  });
}

function parameterTable(operation, id) {
  const rows = operation.parameters.map((parameter, index) => {
    const input = field(parameter, `${id}-${index}`);
    input.dataset.in = parameter.in;
    input.dataset.known = "yes";
    return make(
      "tr", {},
      make("th", { scope: "row" },
        make("label", { for: input.id }, make("code", {}, parameter.name)),
        make("div", { class: "note" }, parameter.in + (parameter.required ? ", needed" : ""))),
      make("td", {},
        make("p", {}, ...prose(parameter.description)),
        make("p", { class: "note" }, make("code", {}, kind(parameter.schema)), rules(parameter.schema) ? `, ${rules(parameter.schema)}` : "")),
      make("td", {}, input),
    );
  });
  const head = make("tr", {}, ...["Name", "Meaning", "Value"].map((text) => make("th", { scope: "col" }, text)));
  return make("div", { class: "scroll" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
}

/** Address and headers that a filled-in form stands for. */
function wanted(form, path, keyed) {
  const query = new URLSearchParams();
  const headers = {};
  let address = path;
  for (const input of form.querySelectorAll("[data-known]")) {
    const { name, value, dataset } = input;
    if (dataset.in === "path") address = address.replace(`{${name}}`, encodeURIComponent(value || name));
    else if (value && dataset.in === "query") query.append(name, value);
    else if (value && dataset.in === "header") headers[name] = value;
  }
  const accept = form.querySelector("[data-accept]")?.value;
  if (accept) headers.Accept = accept;
  if (keyed && byId("key").value) headers["X-API-Key"] = byId("key").value.trim();
  const text = query.toString();
  // Relative to the page, so that a service below a folder of its host is asked and not the host's root.
  const root = new URL(".", location.href).href.replace(/\/$/, "");
  return { url: root + address + (text && `?${text}`), headers };
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function curl({ url, headers }, keyed) {
  const shown = { ...headers };
  // A command is copied and shared; the key is not.
  delete shown["X-API-Key"];
  const lines = Object.entries(shown).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  if (keyed) lines.unshift('-H "X-API-Key: $KEY"');
  return ["curl -s", ...lines, quoted(url)].join(" ");
}

async function ask(request, output) {
  output.replaceChildren(make("p", { class: "note" }, "Asking …"));
  const began = performance.now();
  try {
    const response = await fetch(request.url, { headers: request.headers, cache: "no-store" });
    const type = response.headers.get("content-type") ?? "";
    const bytes = new Uint8Array(await response.arrayBuffer());
    const took = Math.round(performance.now() - began);
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    let text;
    if (/json|csv|text|xml/.test(type)) {
      text = new TextDecoder().decode(bytes);
      if (type.includes("json")) try { text = pretty(JSON.parse(text)); } catch { /* shown as it came */ }
      if (text.length > BODY_SHOWN) text = `${text.slice(0, BODY_SHOWN)}\n… ${text.length - BODY_SHOWN} more characters`;
    } else {
      text = bytes.length ? `${bytes.length} bytes of ${type}` : "(no body)";
    }
    output.replaceChildren(
      make("p", {}, make("span", { class: response.ok ? "good" : "bad" }, `${response.status} ${response.statusText}`), ` in ${took} ms, ${bytes.length} bytes`),
      make("details", {}, make("summary", {}, "Headers"), block(headers)),
      block(text),
    );
  } catch (error) {
    output.replaceChildren(make("p", { class: "bad" }, `No answer: ${error.message}`));
  }
}

function trial(operation, path, id, keyed) {
  const types = Object.keys(resolve(operation.responses["200"])?.content ?? {});
  const named = operation.parameters.some((parameter) => parameter.name === "format");
  const output = make("div", { class: "answer", role: "status" });
  const command = block("");
  const form = make("form", { class: "run" });
  if (operation.parameters.length) form.append(make("h4", {}, "Parameters"), parameterTable(operation, id));
  if (types.length > 1 && !named) {
    const options = types.map((type) => make("option", { value: type }, type));
    form.append(make("p", {}, make("label", {}, "Answer as ", make("select", { "data-accept": "yes" }, ...options))));
  }
  form.append(make("h4", {}, "Try it"), command, make("p", {}, make("button", { type: "submit" }, "Send")), output);
  const refresh = () => { command.firstChild.textContent = curl(wanted(form, path, keyed), keyed); };
  form.addEventListener("input", refresh);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask(wanted(form, path, keyed), output);
  });
  refresh();
  return form;
}

function responses(operation) {
  return Object.entries(operation.responses).map(([status, referred]) => {
    const response = resolve(referred);
    const parts = [];
    const headers = Object.entries(response.headers ?? {}).map(([name, header]) => [name, resolve(header)]);
    for (const [type, content] of Object.entries(response.content ?? {})) {
      parts.push(make("h4", {}, make("code", {}, type)));
      if (content.schema) parts.push(shape(content.schema) ?? make("p", {}, make("code", {}, kind(content.schema))));
      const examples = Object.entries(content.examples ?? (content.example === undefined ? {} : { "": { value: content.example } }));
      for (const [name, example] of examples) parts.push(make("p", { class: "note" }, name ? `Example: ${name}` : "Example"), block(pretty(example.value)));
    }
    if (headers.length) {
      const rows = headers.map(([name, header]) =>
        make("tr", {}, make("th", { scope: "row" }, make("code", {}, name)), make("td", {}, ...prose(header.description), " ", make("code", {}, header.schema.enum ? kind(header.schema) : ""))));
      parts.push(make("h4", {}, "Headers"), make("div", { class: "scroll" }, make("table", {}, make("tbody", {}, ...rows))));
    }
    return make("details", {}, make("summary", {}, make("span", { class: status < 400 ? "good" : "bad" }, status), " ", ...prose(response.description)), ...parts);
  });
}

function route(path, verb, raw) {
  const operation = { ...raw, parameters: (raw.parameters ?? []).map(resolve) };
  const schemes = operation.security ?? [];
  const keyed = schemes.length > 0 && schemes.every((scheme) => Object.keys(scheme).length > 0);
  const id = operation.operationId;
  return make(
    "section", { class: "route", id, "aria-labelledby": `${id}-title` },
    make("h3", { id: `${id}-title` }, operation.summary),
    make("p", { class: "address" }, make("span", { class: "verb" }, verb.toUpperCase()), make("code", {}, path)),
    ...paragraphs(operation.description),
    make("p", { class: "note" }, keyed ? "Needs a key." : "Needs no key."),
    trial(operation, path, id, keyed),
    make("h4", {}, "Answers"),
    ...responses(operation),
  );
}

function show() {
  document.title = `${api.info.title} API ${api.info.version}`;
  byId("title").textContent = `${api.info.title} API ${api.info.version}`;
  byId("about").append(...paragraphs(api.info.description));
  // HEAD has a description for programs; people read that of GET.
  const verbs = (item) => Object.entries(item).filter(([verb]) => !(verb === "head" && item.get));
  const operations = Object.entries(api.paths).flatMap(([path, item]) => verbs(item).map(([verb, operation]) => ({ path, verb, operation })));
  for (const tag of api.tags) {
    const mine = operations.filter(({ operation }) => operation.tags.includes(tag.name));
    if (!mine.length) continue;
    const links = mine.map(({ operation }) => make("li", {}, make("a", { href: `#${operation.operationId}` }, operation.summary)));
    byId("index").append(make("h2", {}, tag.name), make("ul", {}, ...links));
    byId("routes").append(make("h2", {}, tag.name), make("p", {}, ...prose(tag.description)), ...mine.map(({ path, verb, operation }) => route(path, verb, operation)));
  }
  if (location.hash) byId(location.hash.slice(1))?.scrollIntoView();
}

byId("keys").addEventListener("submit", (event) => event.preventDefault());
byId("reveal").addEventListener("click", () => {
  const shown = byId("key").type === "text";
  byId("key").type = shown ? "password" : "text";
  byId("reveal").textContent = shown ? "Show" : "Hide";
  byId("reveal").setAttribute("aria-pressed", String(!shown));
});

try {
  const response = await fetch("openapi.json");
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  api = await response.json();
  show();
  byId("state").remove();
} catch (error) {
  byId("state").textContent = `The description cannot be loaded: ${error.message}`;
}
