// Joins the compiled files of the library into few, because a process spends more on finding 400 modules than on their
// code. Each public subpath keeps its file; what several of them need stands beside them. Nothing is renamed or made
// smaller: stack traces and the tools of users read it as it was written. The declarations stay in dist/.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const folder = fileURLToPath(new URL('..', import.meta.url));
const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const subpaths = Object.values(exports).flatMap(({ types: _, ...targets }) => Object.values(targets));
const names = subpaths.map((path) => path.replace('./bundle/', '').replace('.js', ''));

/** The thread of SQLite is a program of its own, which the storage starts by its place. */
const WORKER = 'sqlite-worker';
const WORKER_SOURCE = `../store/sqlite/${WORKER}.js`;

await build({
  cwd: folder,
  input: {
    ...Object.fromEntries(names.map((name) => [name, `dist/exports/${name}.js`])),
    [WORKER]: `dist/store/sqlite/${WORKER}.js`,
  },
  external: /^[^./]/,
  platform: 'neutral',
  plugins: [
    {
      name: 'place of the thread of SQLite',
      transform: {
        filter: { id: /exports\/sqlite\.js$/ },
        handler(code) {
          if (!code.includes(WORKER_SOURCE)) this.error(`${WORKER_SOURCE} is not named`);
          return code.replace(WORKER_SOURCE, `./${WORKER}.js`);
        },
      },
    },
  ],
  checks: { ineffectiveDynamicImport: false },
  // All files in one folder: the place of the thread is then the same for each of them.
  output: {
    dir: 'bundle',
    cleanDir: true,
    format: 'esm',
    chunkFileNames: '[name]-[hash].js',
    comments: { jsdoc: false },
  },
});
