// Makes a component of generator.js: node build.mjs WIT-FOLDER OUTPUT. Every feature of the engine that would import WASI is left out.
import { readFile, writeFile } from "node:fs/promises";
import { componentize } from "@bytecodealliance/componentize-js";

const [wit, output] = process.argv.slice(2);
const { component } = await componentize(await readFile(new URL("generator.js", import.meta.url), "utf8"), {
  witPath: wit,
  worldName: "generator-plugin",
  disableFeatures: ["stdio", "random", "clocks", "http", "fetch-event"],
});
await writeFile(output, component);
