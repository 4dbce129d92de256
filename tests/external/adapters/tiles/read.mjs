// Reads tiles with @mapbox/vector-tile and prints them as JSON. Arguments: node_modules, then files.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, ...files] = process.argv.slice(2);
const load = async (name) => {
  const folder = join(modules, name);
  const { main, exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const entry = typeof exports === "string" ? exports : main ?? exports["."].import ?? exports["."].default;
  return import(pathToFileURL(join(folder, entry)));
};
const { VectorTile } = await load("@mapbox/vector-tile");
const pbf = await load("pbf");
const Pbf = pbf.PbfReader ?? pbf.Pbf ?? pbf.default;

const tiles = files.map((file) => {
  const tile = new VectorTile(new Pbf(readFileSync(file)));
  return Object.values(tile.layers).map((layer) => ({
    name: layer.name,
    version: layer.version,
    extent: layer.extent,
    features: Array.from({ length: layer.length }, (_, at) => {
      const feature = layer.feature(at);
      const parts = feature.loadGeometry().map((part) => part.map(({ x, y }) => [x, y]));
      return { id: feature.id ?? null, type: feature.type, properties: feature.properties, parts };
    }),
  }));
});
console.log(JSON.stringify(tiles));
