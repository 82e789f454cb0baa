import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PACKAGE_ROOT } from '../package-root.js';
import { IS_PUBLISHED, VERSION } from '../version.js';

/** Packages that a new project depends on. */
const PACKAGES = ['parley-a2a', 'parley-a2a-cli', 'parley-a2a-testing'];

/** The package that those need themselves. Before the first release, npm does not have it. */
const NEEDED = 'parley-a2a-console';

/** Sources of the packages for a new project. */
export interface PackageSources {
  /** The dependency for each package: a version range, or the file of a packed package. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** The clone in which the packages have to be packed first. */
  readonly unpacked: string | undefined;
}

/**
 * Returns npm as the source after the first release. Before it, returns the files of the clone, or the files that this
 * tool was installed from. `further`: packages of this toolkit that not every project depends on.
 */
export function packageSources(further: readonly string[] = []): PackageSources {
  const wanted = [...PACKAGES, ...further];
  const released = Object.fromEntries(wanted.map((name) => [name, `^${VERSION}`]));
  if (IS_PUBLISHED) return { dependencies: released, unpacked: undefined };
  const clone = new URL('../../', PACKAGE_ROOT);
  if (!existsSync(new URL('scripts/pack.mjs', clone)))
    return { dependencies: { ...released, ...installedFiles([...wanted, NEEDED]) }, unpacked: undefined };
  const files = [...wanted, NEEDED].map((name) => [name, new URL(`packed/${name}-${VERSION}.tgz`, clone)] as const);
  const isPacked = files.every(([, file]) => existsSync(file));
  return {
    dependencies: Object.fromEntries(files.map(([name, file]) => [name, `file:${fileURLToPath(file)}`])),
    unpacked: isPacked ? undefined : fileURLToPath(clone),
  };
}

/** Returns the packed packages beside the one that npm installed this tool from, which its lock file names. */
function installedFiles(names: readonly string[]): Readonly<Record<string, string>> {
  const project = new URL('../../', PACKAGE_ROOT);
  try {
    const notes = JSON.parse(readFileSync(new URL('node_modules/.package-lock.json', project), 'utf8')) as {
      readonly packages?: Readonly<Record<string, { readonly resolved?: string } | undefined>>;
    };
    const own = notes.packages?.['node_modules/parley-a2a-cli']?.resolved;
    if (own?.startsWith('file:') !== true) return {};
    const files = names.map(
      (name) => [name, new URL(`${name}-${VERSION}.tgz`, new URL(own.slice(5), project))] as const,
    );
    return Object.fromEntries(
      files.flatMap(([name, file]) => (existsSync(file) ? [[name, `file:${fileURLToPath(file)}`]] : [])),
    );
  } catch {
    // Another installer leaves no such file.
    return {};
  }
}
