import { fileURLToPath } from 'node:url';

const packages = fileURLToPath(new URL('../../packages', import.meta.url));

/** The modules of the project's own packages, and their sources. Tests run the sources, not what was built last. */
export const OWN_SOURCES = [
  { find: /^parley-a2a$/, replacement: `${packages}/parley/src/exports/index.ts` },
  { find: /^parley-a2a\/(.+)$/, replacement: `${packages}/parley/src/exports/$1.ts` },
  { find: /^parley-a2a-(?!console$)([\w-]+)$/, replacement: `${packages}/$1/src/index.ts` },
  { find: /^create-parley-a2a$/, replacement: `${packages}/create-parley-a2a/src/index.ts` },
];

/** The path of the source of an own module; undefined for the modules of others. */
export function ownSourceOf(module) {
  const own = OWN_SOURCES.find(({ find }) => find.test(module));
  return own && module.replace(own.find, own.replacement);
}
