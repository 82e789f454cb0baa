import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

/** The library is outside of the application folder. The output is not part of this repository's sources. */
const config = { distDir: 'node_modules/.next', turbopack: { root }, outputFileTracingRoot: root };

export { config as default };
