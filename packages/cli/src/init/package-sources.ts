import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PACKAGE_ROOT } from '../package-root.js';
import { IS_PUBLISHED, VERSION } from '../version.js';

/** Packages that a new project depends on. */
export const PACKAGES = ['parley-a2a', 'parley-a2a-cli'] as const;

/** The same, with the packages that they need themselves. Before the first release, npm has none of them. */
const PACKED = [...PACKAGES, 'parley-a2a-console'] as const;

/** Sources of the packages for a new project. */
export interface PackageSources {
  /** The dependency for each package: a version range, or the file of a packed package. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** The clone in which the packages have to be packed first. */
  readonly unpacked: string | undefined;
}

/**
 * Returns npm as the source after the first release. Before it, returns the files of the clone, or the files that this
 * tool was installed from.
 */
export function packageSources(): PackageSources {
  const released = Object.fromEntries(PACKAGES.map((name) => [name, `^${VERSION}`]));
  if (IS_PUBLISHED) return { dependencies: released, unpacked: undefined };
  const clone = new URL('../../', PACKAGE_ROOT);
  if (!existsSync(new URL('scripts/pack.mjs', clone)))
    return { dependencies: { ...released, ...installedFiles() }, unpacked: undefined };
  const files = PACKED.map((name) => [name, new URL(`packed/${name}-${VERSION}.tgz`, clone)] as const);
  const isPacked = files.every(([, file]) => existsSync(file));
  return {
    dependencies: Object.fromEntries(files.map(([name, file]) => [name, `file:${fileURLToPath(file)}`])),
    unpacked: isPacked ? undefined : fileURLToPath(clone),
  };
}

/** Returns the files that npm installed the packages from, read from its lock file. */
function installedFiles(): Readonly<Record<string, string>> {
  const project = new URL('../../', PACKAGE_ROOT);
  try {
    const notes = JSON.parse(readFileSync(new URL('node_modules/.package-lock.json', project), 'utf8')) as {
      readonly packages?: Readonly<Record<string, { readonly resolved?: string } | undefined>>;
    };
    const resolved = PACKED.map((name) => [name, notes.packages?.[`node_modules/${name}`]?.resolved] as const);
    return Object.fromEntries(
      resolved.flatMap(([name, place]) =>
        place?.startsWith('file:') === true ? [[name, `file:${fileURLToPath(new URL(place.slice(5), project))}`]] : [],
      ),
    );
  } catch {
    // Another installer leaves no such file.
    return {};
  }
}
