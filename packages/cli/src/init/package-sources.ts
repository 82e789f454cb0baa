import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PACKAGE_ROOT } from '../package-root.js';
import { IS_PUBLISHED, VERSION } from '../version.js';

/** The packages that a new project depends on. */
export const PACKAGES = ['parley-a2a', 'parley-a2a-cli'] as const;

/** The sources of the packages for a new project. */
export interface PackageSources {
  /** The value in `package.json` for each: a range of versions, or the file of a packed package. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** The clone in which the packages must be packed first. */
  readonly unpacked: string | undefined;
}

/**
 * npm once there is a release; before that the files of the clone that this tool runs from, or those that it was
 * installed from.
 */
export function packageSources(): PackageSources {
  const released = Object.fromEntries(PACKAGES.map((name) => [name, `^${VERSION}`]));
  if (IS_PUBLISHED) return { dependencies: released, unpacked: undefined };
  const clone = new URL('../../', PACKAGE_ROOT);
  if (!existsSync(new URL('scripts/pack.mjs', clone)))
    return { dependencies: { ...released, ...installedFiles() }, unpacked: undefined };
  const files = PACKAGES.map((name) => [name, new URL(`packed/${name}-${VERSION}.tgz`, clone)] as const);
  const isPacked = files.every(([, file]) => existsSync(file));
  return {
    dependencies: Object.fromEntries(files.map(([name, file]) => [name, `file:${fileURLToPath(file)}`])),
    unpacked: isPacked ? undefined : fileURLToPath(clone),
  };
}

/** The files from which npm has installed the packages, by the notes that it keeps beside them. */
function installedFiles(): Readonly<Record<string, string>> {
  const project = new URL('../../', PACKAGE_ROOT);
  try {
    const notes = JSON.parse(readFileSync(new URL('node_modules/.package-lock.json', project), 'utf8')) as {
      readonly packages?: Readonly<Record<string, { readonly resolved?: string } | undefined>>;
    };
    const resolved = PACKAGES.map((name) => [name, notes.packages?.[`node_modules/${name}`]?.resolved] as const);
    return Object.fromEntries(
      resolved.flatMap(([name, place]) =>
        place?.startsWith('file:') === true ? [[name, `file:${fileURLToPath(new URL(place.slice(5), project))}`]] : [],
      ),
    );
  } catch {
    // Installed by something else than npm: there is nothing to learn.
    return {};
  }
}
