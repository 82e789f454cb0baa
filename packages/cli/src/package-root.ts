/** The folder of this package, from where the bundle stands as well as from where the compiler writes. */
export const PACKAGE_ROOT = new URL('..', import.meta.url);
