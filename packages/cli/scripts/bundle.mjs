// Bundles the tool into few files, because a command that runs for 0.1 s must not spend it on finding modules. The
// bundle includes the conformance tester, the client of the library and its static imports, and packages beside it.
// Servers and the engine of storages stay in the library.
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const folder = fileURLToPath(new URL('..', import.meta.url));
const TAKEN =
  /^(?:parley-a2a(?:\/(?:binding-kit|client|kit|server-settings|tools|validation))?|parley-a2a-(?:capnweb|conformance|grpc|mcp|mutual-tls|otel|postgres|redis)|create-parley-a2a|typebox(?:\/.+)?)$/;
const LIBRARY = /^parley-a2a(?:\/(.+))?$/;
const FOREIGN = /^.*node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/;
/** Modules with at least this number of importing commands and lazy imports share a file, which most commands load. */
const SHARED_BY = 6;

const { output } = await build({
  cwd: folder,
  input: 'dist/run.js',
  preserveEntrySignatures: 'allow-extension',
  platform: 'node',
  transform: { target: 'node22.19' },
  plugins: [
    {
      name: 'servers stay outside',
      resolveId: {
        order: 'pre',
        filter: { id: /^[^./]/ },
        handler: (id, importer) => {
          if (importer === undefined) return undefined;
          if (!TAKEN.test(id)) return { id, external: true };
          // A single file of the library, so that each command includes only the modules that it needs.
          const library = LIBRARY.exec(id);
          return library === null ? undefined : join(folder, `../parley/dist/exports/${library[1] ?? 'index'}.js`);
        },
      },
    },
  ],
  output: {
    dir: 'bundle',
    cleanDir: true,
    format: 'esm',
    // Keeps names, for stack traces.
    minify: { compress: false, mangle: false, codegen: true },
    comments: false,
    codeSplitting: {
      // The shared file must not include modules that few commands need.
      includeDependenciesRecursively: false,
      groups: [
        { name: 'start', tags: ['$initial'], priority: 2 },
        { name: 'shared', minShareCount: SHARED_BY, priority: 1 },
      ],
    },
  },
});

// Most commands load these files, so they must not import the library, which loads module by module.
for (const file of output.filter(({ name }) => name === 'start' || name === 'shared' || name === 'run')) {
  const slow = file.imports.filter((id) => id.startsWith('parley-a2a'));
  if (slow.length > 0) throw new Error(`${file.fileName} imports ${slow.join(', ')}: import it where it is needed`);
}

// Third-party code keeps its licence.
for (const path of output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))) {
  const [place, name] = FOREIGN.exec(path) ?? [];
  if (name === undefined) continue;
  const license = readdirSync(place).find((file) => /^license/i.test(file));
  copyFileSync(join(place, license), `${folder}bundle/LICENSE.${name.replace(/[\\/]/, '+')}`);
}

// `parley error` reads this reference.
copyFileSync(join(folder, '../../docs/errors.json'), `${folder}bundle/errors.json`);
