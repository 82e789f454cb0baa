// A server that takes uploads to a folder: ours with files, or a bare node:http that streams each body to disk.
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { directoryFileStore, fileTransfer } from 'parley-a2a/files';
import { createA2AServer } from 'parley-a2a/node';
import { portOf, ready } from './subject-host.js';

const [, , which, folder = ''] = process.argv;
if (which === 'bare') {
  const server = createServer(async (request, response) => {
    await pipeline(request, createWriteStream(join(folder, randomUUID()), { flush: true }));
    response.end('{}');
  });
  server.listen(0, '127.0.0.1', () => ready(portOf(server.address())));
} else {
  const files = fileTransfer({ store: directoryFileStore({ path: join(folder, 'store') }), maxBytes: 2 ** 31 });
  const server = createA2AServer({ agent: async () => 'done', files });
  const { url } = await server.listen(0);
  ready(Number(new URL(url).port));
}
