// Serves a folder of sites on this machine.
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

const TYPES = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

/** Serves the folder at the path `root`. Resolves to the server once it listens. Port 0 is any free port. */
export async function serve(folder, { root, port }) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    const path = pathname.startsWith(root)
      ? normalize(`/${decodeURIComponent(pathname.slice(root.length))}`)
      : '/404.html';
    const file = join(folder, path.endsWith('/') ? `${path}index.html` : path);
    const isThere = existsSync(file) && statSync(file).isFile();
    const sent = isThere ? file : join(folder, '404.html');
    response.writeHead(isThere ? 200 : 404, { 'content-type': TYPES[extname(sent)] ?? 'application/octet-stream' });
    if (request.method === 'HEAD') response.end();
    else createReadStream(sent).pipe(response);
  });
  await new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  return server;
}
