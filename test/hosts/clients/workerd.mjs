// The client as it would be deployed in a worker: one file, without Node.js compatibility.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';

const [options, file = './calls.mjs'] = process.argv.slice(2);
const { outputFiles } = await build({
  stdin: {
    contents: `import { calls } from '${file}';
      const worker = { fetch: async (request) => Response.json(await calls(await request.json())) };
      export { worker as default };`,
    resolveDir: fileURLToPath(new URL('.', import.meta.url)),
  },
  bundle: true,
  write: false,
  format: 'esm',
  target: 'es2022',
  platform: 'neutral',
  conditions: ['workerd', 'worker', 'browser'],
  mainFields: ['module', 'main'],
  external: ['cloudflare:workers'],
});
const miniflare = new Miniflare({ modules: true, script: outputFiles[0].text, compatibilityDate: '2026-07-01' });
try {
  const answer = await miniflare.dispatchFetch('http://worker.example', { method: 'POST', body: options });
  const text = await answer.text();
  // The text of a worker that has thrown is its error.
  if (!answer.ok) throw new Error(text);
  console.log(text);
} finally {
  await miniflare.dispose();
}
