// Builds main.js into a folder, and puts the manifest and the versions beside it: `node build.mjs [FOLDER]`.
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, "..", "src", "knapper_companion", "plugin"));

/** A digest of all that main.js is made from, so that a stale one is seen even where nothing can be built. */
function sources() {
  const files = readdirSync(join(here, "src"), { recursive: true }).map((name) => `src/${name.replaceAll("\\", "/")}`);
  const digest = createHash("sha256");
  for (const name of [...files.filter((file) => file.endsWith(".ts")).sort(), "build.mjs", "package.json"]) {
    digest.update(`${name}\n${readFileSync(join(here, name), "utf8").replaceAll("\r\n", "\n")}\n`);
  }
  return digest.digest("hex");
}

mkdirSync(out, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: ["src/main.ts"],
  outfile: join(out, "main.js"),
  bundle: true,
  format: "cjs",
  target: "es2022",
  external: ["obsidian"],
  legalComments: "none",
  banner: {
    js: `/* Knapper companion, MIT. Built from bridges/companion/plugin of the knapper project; do not edit.\n   sources sha256:${sources()} */`,
  },
});
for (const name of ["manifest.json", "versions.json"]) copyFileSync(join(here, name), join(out, name));
