// A server with files in a directory, and beside it a bare node:http server that streams bodies to a file. It tells its
// addresses, then the memory of the process whenever it is asked: now, and the most since the last question.
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { directoryFileStore, fileTransfer } from '../../packages/parley/dist/exports/files.js';
import { createA2AServer } from '../../packages/parley/dist/exports/node.js';

const folder = process.argv[2];
const server = createA2AServer({
  agent: async () => 'done',
  files: fileTransfer({ store: directoryFileStore({ path: join(folder, 'store') }), maxBytes: 2 ** 31 }),
});
const { url } = await server.listen(0);
const bareFile = join(folder, 'bare');
const bare = createServer(async (request, response) => {
  if (request.method === 'POST') {
    await pipeline(request, createWriteStream(bareFile, { flush: true }));
    response.end();
  } else {
    response.writeHead(200, { 'content-length': statSync(bareFile).size });
    await pipeline(createReadStream(bareFile), response);
  }
});
await new Promise((resolve) => bare.listen(0, '127.0.0.1', resolve));

let most = 0;
setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss());
}, 10);
process.on('message', () => {
  const now = process.memoryUsage.rss();
  process.send?.({ now, most: Math.max(most, now) });
  most = now;
});
process.send?.({ files: `${new URL(url).origin}/a2a/files`, bare: `http://127.0.0.1:${bare.address().port}/` });
