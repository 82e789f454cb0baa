// Bundles the tool into few files, because a command that runs for 0.1 s must not spend it on finding modules. The
// bundle includes the conformance tester, the client of the library and its static imports. Servers and storages stay
// in the library.
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = fileURLToPath(new URL('..', import.meta.url));
const TAKEN =
  /^(?:parley-a2a(?:\/(?:capnweb|client|file-client|grpc|mcp|schema))?|parley-a2a-conformance|eventsource-parser)$/;
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
  // Keeps names, for stack traces.
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

// esbuild also writes chunks for dynamic imports in code that it left out. No file of the bundle loads them.
const reached = new Set();
const reach = (output) => {
  const { imports } = metafile.outputs[output] ?? {};
  if (imports === undefined || reached.has(output)) return;
  reached.add(output);
  for (const { path } of imports) reach(path);
};
reach('bundle/run.js');
for (const output of Object.keys(metafile.outputs)) if (!reached.has(output)) rmSync(join(folder, output));

// Third-party code keeps its licence.
for (const path of Object.keys(metafile.inputs)) {
  const [place, name] = FOREIGN.exec(path) ?? [];
  if (name !== undefined)
    copyFileSync(join(folder, place, 'LICENSE'), `${folder}bundle/LICENSE.${name.replace('/', '+')}`);
}

// `parley error` reads this reference.
copyFileSync(join(folder, '../../docs/errors.json'), `${folder}bundle/errors.json`);
