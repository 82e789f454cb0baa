import { enableCompileCache, flushCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// The next start loads what this one has compiled. A folder that cannot be written only costs that time.
enableCompileCache(fileURLToPath(new URL('../.cache', import.meta.url)));
// Loaded after the cache is on, so that the cache serves it. Returns when the server listens.
await import('./serve.js');
flushCompileCache();
