// Bundles the code of commands into few files, so that a short run spends no time on finding modules. The client of the
// library and its static imports are included. Servers and storages stay separate.
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = fileURLToPath(new URL('..', import.meta.url));
const TAKEN = /^(?:parley-a2a(?:\/(?:client|schema))?|parley-a2a-conformance|eventsource-parser)$/;
const FOREIGN = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)\//;

rmSync(`${folder}bundle`, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: folder,
  entryPoints: ['dist/run.js'],
  outdir: 'bundle',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.19',
  // Stack traces need names.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  plugins: [
    {
      name: 'servers stay outside',
      setup({ onResolve }) {
        onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
          kind === 'entry-point' || TAKEN.test(path) ? undefined : { path, external: true },
        );
      },
    },
  ],
});

// Code of other authors keeps its license.
for (const path of Object.keys(metafile.inputs)) {
  const [place, name] = FOREIGN.exec(path) ?? [];
  if (name !== undefined)
    copyFileSync(join(folder, place, 'LICENSE'), `${folder}bundle/LICENSE.${name.replace('/', '+')}`);
}

// `parley error` explains errors from the reference.
copyFileSync(join(folder, '../../docs/errors.json'), `${folder}bundle/errors.json`);
