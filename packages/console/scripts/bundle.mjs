// Bundles the compiled console for browsers. Names of files have hashes, so that browsers keep them.
import { copyFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = fileURLToPath(new URL('..', import.meta.url));
const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', svg: 'image/svg+xml' };
const FOREIGN = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)\//;
/** Packages of the repository are links, whose files are elsewhere. */
const THIRD_PARTY = /^(?!parley)/;

rmSync(`${folder}bundle`, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: folder,
  entryPoints: { console: 'dist/web/main.js', style: 'src/web/style/style.css', icon: 'src/web/icon.svg' },
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2024',
  minify: true,
  legalComments: 'none',
  loader: { '.svg': 'copy' },
  entryNames: '[name]-[hash]',
  chunkNames: 'part-[hash]',
  outdir: 'bundle',
  metafile: true,
  // The single files of the library: a part that is loaded on demand then takes its own code along.
  alias: { 'parley-a2a': fileURLToPath(new URL('../../parley/dist/exports', import.meta.url)) },
  logLevel: 'warning',
});

const outputs = Object.entries(metafile.outputs);
const nameOf = (entryPoint) => basename(outputs.find(([, output]) => output.entryPoint === entryPoint)?.[0] ?? '');
const script = nameOf('dist/web/main.js');

/** The scripts that load with a script, without those that it loads on demand. */
function importsOf(name, found = new Set()) {
  for (const { path, kind } of metafile.outputs[`bundle/${name}`]?.imports ?? []) {
    if (kind !== 'import-statement' || found.has(basename(path))) continue;
    found.add(basename(path));
    importsOf(basename(path), found);
  }
  return [...found];
}

const manifest = {
  script,
  style: nameOf('src/web/style/style.css'),
  icon: basename(outputs.find(([path]) => path.endsWith('.svg'))?.[0] ?? ''),
  preloads: importsOf(script),
  files: outputs.map(([path]) => ({ name: basename(path), type: TYPES[path.split('.').at(-1)] })),
};
writeFileSync(`${folder}bundle/manifest.json`, `${JSON.stringify(manifest, undefined, 1)}\n`);

// Third-party code keeps its licence.
for (const path of Object.keys(metafile.inputs)) {
  const [place, name] = FOREIGN.exec(path) ?? [];
  if (name === undefined || !THIRD_PARTY.test(name)) continue;
  const licence = readdirSync(`${folder}${place}`).find((file) => /^licen[cs]e/i.test(file));
  copyFileSync(`${folder}${place}${licence}`, `${folder}bundle/LICENSE.${name.replace('/', '+')}`);
}
