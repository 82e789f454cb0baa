// The client in a page of another origin than the agent's, in a browser without a window.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { launchChromium } from '../../support/chromium.mjs';

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
const browser = await launchChromium();
browser.on('disconnected', () => told.reject(new Error('chromium has ended')));
try {
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  console.log(await told.promise);
} finally {
  await browser.close();
  server.closeAllConnections();
  server.close();
}
