// Compiles the sources of a project, each file by itself and without types. Takes the folder of the project.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from './processes.mjs';

const folder = join(root, process.argv[2]);
const sources = readdirSync(join(folder, 'src'), { recursive: true }).filter((path) =>
  /(?<!\.test|\.d)\.tsx?$/.test(path),
);

await build({
  absWorkingDir: folder,
  entryPoints: sources.map((path) => join('src', path)),
  outdir: 'dist',
  outbase: 'src',
  tsconfig: 'tsconfig.json',
  format: 'esm',
  logLevel: 'warning',
});
