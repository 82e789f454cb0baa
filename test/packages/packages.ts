import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const PACKAGES = fileURLToPath(new URL('../../packages', import.meta.url));

/** The manifest of a package, as far as tests ask for it. */
export interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly version: string;
  readonly license?: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** The manifest of the package in a folder of `packages/`. */
export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(`${PACKAGES}/${folder}/package.json`, 'utf8')) as Manifest;
}

/** The folders of the packages that npm gets. */
export const PUBLISHED = readdirSync(PACKAGES).filter((folder) => manifestOf(folder).private !== true);

/** Those that have what they need in bundles of their own. */
const BUNDLED = ['cli', 'console', 'create-parley-a2a'];

/** The folders of the libraries beside the core that npm gets. */
export function librariesBeside(): readonly string[] {
  return PUBLISHED.filter((folder) => folder !== 'parley' && !BUNDLED.includes(folder));
}

/** The packages that a library needs, apart from the core. */
export function needsOf(folder: string): readonly string[] {
  const { dependencies = {}, peerDependencies = {} } = manifestOf(folder);
  return Object.keys({ ...dependencies, ...peerDependencies }).filter((name) => name !== 'parley-a2a');
}
