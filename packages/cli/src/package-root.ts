/** The folder of this package, the same from the bundle and from the compiled files. */
export const PACKAGE_ROOT = new URL('..', import.meta.url);
