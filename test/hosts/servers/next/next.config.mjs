import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

/** The library is outside of the application's folder. What is built is no source of this repository. */
const config = { distDir: 'node_modules/.next', turbopack: { root }, outputFileTracingRoot: root };

export { config as default };
