// Joins the compiled files of the library into few, because a process spends more on finding 400 modules than on their
// code. Each public subpath keeps its file; what several of them need stands beside them. Nothing is renamed or made
// smaller: stack traces and the tools of users read it as it was written. The declarations that the subpaths need go to
// bundle/types. TypeBox becomes a part of it: npm would unpack 1,400 files, of which the library needs few.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const folder = fileURLToPath(new URL('..', import.meta.url));
const { exports, bundled } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const targets = Object.values(exports).flatMap(({ types: _, ...files }) => Object.values(files));
const names = targets.map((path) => path.replace('./bundle/', '').replace('.js', ''));

/** The thread of SQLite is a program of its own, which the storage starts by its place. */
const WORKER = 'sqlite-worker';
const WORKER_SOURCE = `../store/sqlite/${WORKER}.js`;

/** Programs of the processes of `listen` with workers. Their places are those of their sources: beside the subpaths. */
const PROGRAMS = ['worker-start', 'worker-storage-process'];

/**
 * Code of rooms that load where there is no Node.js. The modules of a room that at least so many subpaths need become
 * one file. Bundlers of users can leave out the rooms that they do not need.
 */
const PORTABLE = /\/dist\/(?!adapters\/(?!fetch|hono)|files\/directory|store\/(?:sqlite|remote)|exports)/;
const SHARED_BY = 6;
/** The bundler gives paths of the system. */
const withSlashes = (path) => path.replaceAll('\\', '/');
const roomOf = (path) => /\/dist\/([\w-]+)\//.exec(withSlashes(path))?.[1] ?? 'shared';

/** True for a package whose code is part of the bundle, with its license. */
const isBundled = (id) => bundled.some((name) => id === name || id.startsWith(`${name}/`));

await build({
  cwd: folder,
  input: {
    ...Object.fromEntries(names.map((name) => [name, `dist/exports/${name}.js`])),
    [WORKER]: `dist/store/sqlite/${WORKER}.js`,
    ...Object.fromEntries(PROGRAMS.map((name) => [name, `dist/exports/${name}.js`])),
  },
  // Asked again with the resolved path of each module, which begins with a letter on Windows.
  external: (id, _importer, isResolved) => !isResolved && /^[^./]/.test(id) && !isBundled(id),
  platform: 'neutral',
  plugins: [
    {
      name: 'place of the thread of SQLite',
      transform: {
        filter: { id: /exports[\\/]open-sqlite\.js$/ },
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
    codeSplitting: {
      groups: [
        ...bundled.map((name) => ({ name, test: (path) => withSlashes(path).includes(`/node_modules/${name}/`) })),
        {
          name: roomOf,
          debugName: 'rooms',
          test: (path) => PORTABLE.test(withSlashes(path)),
          minShareCount: SHARED_BY,
        },
      ],
    },
  },
});

const RELATIVE = /(?:from |import\()\s*['"](\.[^'"]+)['"]/g;
const copied = new Set();

/** The declarations without the schemas behind the types of the protocol, which no subpath exports. */
function withoutSchemas(text) {
  const typebox = `import Type from 'typebox';\n`;
  if (!text.includes(typebox)) return text;
  const schemas =
    /(?:^\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?^export declare const \w+Schema: Type\.(?:.*;|[\s\S]*?^\}.*;)\n/gm;
  return text.replace(schemas, '').replace(typebox, '');
}

/** Copies a file of declarations and those that it names. */
function copyTypes(path) {
  if (copied.has(path)) return;
  copied.add(path);
  const text = withoutSchemas(readFileSync(join(folder, 'dist', path), 'utf8'));
  const unknown = bundled.find((name) => text.includes(`'${name}`));
  if (unknown !== undefined) throw new Error(`${path} declares types of ${unknown}, which users do not have`);
  const place = join(folder, 'bundle/types', path);
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, text);
  for (const [, specifier] of text.matchAll(RELATIVE)) copyTypes(join(path, '..', specifier).replace(/\.js$/, '.d.ts'));
}

// A build that does not check types has no declarations.
if (existsSync(join(folder, 'dist/exports/index.d.ts'))) for (const name of names) copyTypes(`exports/${name}.d.ts`);

for (const name of bundled) {
  const place = join(folder, '../../node_modules', name);
  const license = readdirSync(place).find((file) => /^license/i.test(file));
  copyFileSync(join(place, license), join(folder, `bundle/LICENSE.${name}`));
}
