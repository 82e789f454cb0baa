// Puts what a command loads into few files: a tool that runs for a tenth of a second must not spend it on finding modules. The client of
// the library goes with it; its servers and storages stay where they are.
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = fileURLToPath(new URL('..', import.meta.url));
const OWN = /^parley-a2a(?:\/(?:client|schema))?$/;

rmSync(`${folder}bundle`, { recursive: true, force: true });
await build({
  absWorkingDir: folder,
  entryPoints: ['dist/run.js'],
  outdir: 'bundle',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.19',
  // Traces should say names.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
  plugins: [
    {
      name: 'servers stay outside',
      setup({ onResolve }) {
        onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
          kind === 'entry-point' || OWN.test(path) ? undefined : { path, external: true },
        );
      },
    },
  ],
});
