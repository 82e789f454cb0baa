/** The folder of this package, valid in the bundle and in the compiled files. */
export const PACKAGE_ROOT = new URL('..', import.meta.url);
