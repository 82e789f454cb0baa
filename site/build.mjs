// Builds the site into a folder that may hold other versions of it: `dist/0.1.0/`, and a list of the versions. Needs no
// network. `npm run docs -- --help` has the options.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'vitepress';
import { root } from '../scripts/processes.mjs';
import { brokenLinks } from './broken-links.mjs';
import { cache, here, pagesFolder, readingFile } from './folders.mjs';
import { llmsFiles } from './llms.mjs';
import { stagePages } from './pages.mjs';
import { serve } from './serve.mjs';
import { writeVersions } from './versions.mjs';

const { version: current } = JSON.parse(readFileSync(join(root, 'packages/parley/package.json'), 'utf8'));
const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = process.env;

const { values: options } = parseArgs({
  options: {
    version: { type: 'string', default: current },
    out: { type: 'string', default: join(here, 'dist') },
    root: { type: 'string', default: '/' },
    repository: { type: 'string', default: repository === undefined ? '' : `${server}/${repository}` },
    ref: { type: 'string', default: 'main' },
    serve: { type: 'boolean', default: false },
  },
});

if (!/^\w[\w.-]*$/.test(options.version)) throw new Error(`--version ${options.version} is no name of a folder`);
const out = resolve(options.out);
const folder = join(out, options.version);
const base = `${options.root}${options.version}/`;
const urlOf = (path) =>
  options.repository === '' || !existsSync(join(root, path))
    ? undefined
    : `${options.repository}/blob/${options.ref}/${path}`;

const began = performance.now();
for (const old of [cache, folder]) rmSync(old, { recursive: true, force: true });
const { places, reading, symbols } = await stagePages({ urlOf });
const described = performance.now();
writeFileSync(readingFile, JSON.stringify({ ...options, base, reading, symbols: [...symbols] }));
process.env.NODE_ENV = 'production';
await build(here, { outDir: folder, base });
const rendered = performance.now();
cpSync(pagesFolder, folder, { recursive: true });
cpSync(join(root, 'packages/cli/skill'), join(folder, 'skill'), { recursive: true });
for (const [name, text] of llmsFiles({ reading, version: options.version })) {
  writeFileSync(join(folder, name), text);
}
writeVersions(out, options.root);

const broken = brokenLinks(folder, base);
for (const { page, link, reason } of broken) process.stderr.write(`${page}: ${link}: ${reason}\n`);
if (broken.length > 0) {
  process.stderr.write(`${broken.length} links are broken\n`);
  process.exit(1);
}
const seconds = (ms) => (ms / 1000).toFixed(1);
process.stdout.write(
  `${places.length} pages, ${(sizeOf(folder) / 1e6).toFixed(1)} MB in ${folder}. ` +
    `${seconds(described - began)} s to read, ${seconds(rendered - described)} s to render\n`,
);

if (options.serve) {
  const server = await serve(out, { root: options.root, port: 0 });
  process.stdout.write(`http://127.0.0.1:${server.address().port}${base}\n`);
}

function sizeOf(path) {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((size, { parentPath, name }) => size + readFileSync(join(parentPath, name)).length, 0);
}
