// Compiles the sources of a project, each file by itself and without types. Takes the folder of the project.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { root } from './processes.mjs';

const folder = join(root, process.argv[2]);
const sources = readdirSync(join(folder, 'src'), { recursive: true }).filter((path) =>
  /(?<!\.test|\.d)\.tsx?$/.test(path),
);

const files = await compiledFiles();
// Sources with an error leave the last build as it was: a server may run from it.
rmSync(join(folder, 'dist'), { recursive: true, force: true });
for (const { path, contents } of files) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, contents);
}

/** Ends the process if a source has an error. */
async function compiledFiles() {
  try {
    const { outputFiles } = await build({
      absWorkingDir: folder,
      entryPoints: sources.map((path) => join('src', path)),
      outdir: 'dist',
      outbase: 'src',
      tsconfig: 'tsconfig.json',
      format: 'esm',
      logLevel: 'warning',
      write: false,
    });
    return outputFiles;
  } catch {
    // The compiler has printed the errors.
    process.exit(1);
  }
}
