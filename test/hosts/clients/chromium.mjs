// The client in a page of another origin than the agent's, in a browser without a window.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const [options, file = './calls.mjs'] = process.argv.slice(2);
const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL('page.mjs', import.meta.url))],
  alias: { calls: fileURLToPath(new URL(file, import.meta.url)) },
  bundle: true,
  write: false,
  format: 'esm',
  target: 'es2022',
  platform: 'browser',
});
const told = Promise.withResolvers();
const server = createServer(async (request, response) => {
  if (request.url === '/told') told.resolve(await text(request));
  response.setHeader('content-type', 'text/html; charset=utf-8');
  const page = `<!doctype html><title>Client</title><script type="module">${outputFiles[0].text}</script>`;
  response.end(request.url === '/task' ? options : page);
});
await once(server.listen(0, '127.0.0.1'), 'listening');
const profile = await mkdtemp(join(tmpdir(), 'parley-chromium-'));
// Its sandbox works neither for root nor in every container, and the page is one of ours.
const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'];
const page = `http://127.0.0.1:${server.address().port}/`;
const browser = spawn('chromium', [...flags, `--user-data-dir=${profile}`, page], { stdio: 'ignore' });
browser.once('error', told.reject);
const ended = once(browser, 'exit');
ended.then(([code]) => told.reject(new Error(`chromium ended with ${code}`)));
try {
  console.log(await told.promise);
} finally {
  if (browser.kill()) await ended;
  server.closeAllConnections();
  server.close();
  await rm(profile, { recursive: true, force: true, maxRetries: 10 });
}
