// Makes a component of a plugin: node build.mjs WIT-FOLDER WORLD SOURCE OUTPUT. Every feature of the engine that would import WASI is left out.
import { readFile, writeFile } from "node:fs/promises";
import { componentize } from "@bytecodealliance/componentize-js";

const [witPath, worldName, source, output] = process.argv.slice(2);
const { component } = await componentize(await readFile(source, "utf8"), {
  witPath,
  worldName,
  disableFeatures: ["stdio", "random", "clocks", "http", "fetch-event"],
});
await writeFile(output, component);
