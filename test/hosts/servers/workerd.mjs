// A worker as it would be deployed: one file, without Node.js compatibility, on workerd. The argument names the file.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';

const port = Number(process.env.PORT);
const [file = 'worker.mjs'] = process.argv.slice(2);
const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL(file, import.meta.url))],
  bundle: true,
  write: false,
  format: 'esm',
  target: 'es2022',
  platform: 'neutral',
  conditions: ['workerd', 'worker', 'browser'],
  mainFields: ['module', 'main'],
  external: ['cloudflare:workers'],
});
const miniflare = new Miniflare({
  port,
  host: '127.0.0.1',
  modules: true,
  script: outputFiles[0].text,
  compatibilityDate: '2026-07-01',
  // Without it a worker does not learn that a client has gone.
  compatibilityFlags: ['enable_request_signal'],
  bindings: { URL: `http://127.0.0.1:${port}`, WEBHOOKS: process.env.WEBHOOKS ?? '' },
  durableObjects: { AGENTS: 'Agents' },
});
await miniflare.ready;
console.log('ready');
