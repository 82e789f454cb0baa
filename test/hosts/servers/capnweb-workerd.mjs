// A worker that serves its agent over Cap'n Web, by the WebSockets of the platform.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';

const port = Number(process.env.PORT);
const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL('capnweb-worker.mjs', import.meta.url))],
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
  compatibilityFlags: ['enable_request_signal'],
  bindings: { URL: `http://127.0.0.1:${port}` },
  durableObjects: { AGENTS: 'Agents' },
});
await miniflare.ready;
console.log('ready');
