import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { connect, uploadFile } from 'parley-a2a/client';
import { expect, it } from 'vitest';
import { cardAt, clientAt } from './clients.js';
import { FileServer } from './file-server.js';

const content = randomBytes(300_000);
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('base64');

/** Takes a file as the endpoint of an agent does. */
async function store(request: IncomingMessage, response: ServerResponse, told: object = {}): Promise<Buffer> {
  const taken = await buffer(request);
  const file = { id: 'f-1', url: '/files/f-1', filename: 'a.bin', mediaType: 'x/y', size: taken.length };
  response.writeHead(201).end(JSON.stringify({ ...file, digest: `sha-256=:${sha256(taken)}:`, ...told }));
  return taken;
}

it.each([
  ['a Blob', () => new Blob([content])],
  ['bytes', () => new Uint8Array(content)],
  ['a stream', () => new Blob([content]).stream()],
])('uploads %s with its name, type and length, and reports progress', async (_, source) => {
  let taken: Promise<Buffer> | undefined;
  await using server = await FileServer.start({
    answer: (request, response) => {
      taken = store(request, response);
      return true;
    },
  });
  const seen: number[] = [];
  const file = await uploadFile(await clientAt(server.url), source(), {
    filename: 'ä (1).bin',
    mediaType: 'x/y',
    size: content.length,
    onProgress: ({ bytes }) => seen.push(bytes),
  });
  expect((await taken)?.equals(content)).toBe(true);
  expect(file).toMatchObject({ id: 'f-1', url: `${server.url}/files/f-1`, size: content.length });
  expect(seen.at(-1)).toBe(content.length);
  expect(server.requests[0]).toMatchObject({
    method: 'POST',
    path: '/files',
    headers: {
      'content-type': 'x/y',
      'content-length': String(content.length),
      'content-disposition': "attachment; filename*=UTF-8''%C3%A4%20%281%29.bin",
    },
  });
});

it('finds that the agent has stored other bytes', async () => {
  for (const told of [{ digest: `sha-256=:${sha256(randomBytes(1))}:` }, { size: 1 }]) {
    await using server = await FileServer.start({
      answer: (request, response) => {
        void store(request, response, told);
        return true;
      },
    });
    const uploaded = uploadFile(await clientAt(server.url), new Blob([content]));
    await expect(uploaded).rejects.toThrow('The agent has stored other bytes');
  }
});

it('needs a place for files, and sends none that is too large for it', async () => {
  await using server = await FileServer.start();
  const bare = await connect({ ...cardAt(server.url), capabilities: {} });
  await expect(uploadFile(bare, content)).rejects.toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
  const small = await connect(cardAt(server.url, 100));
  await expect(uploadFile(small, content)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  expect(server.requests).toEqual([]);
});

it('ends with the reason of the signal, with the failure of its source, and when nothing moves', async () => {
  await using server = await FileServer.start({ answer: () => true });
  const client = await clientAt(server.url);
  const abort = new AbortController();
  const waiting = uploadFile(client, new Blob([content]), { signal: abort.signal });
  abort.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  const broken = new ReadableStream<Uint8Array>({
    pull: () => {
      throw new Error('the disk is gone');
    },
  });
  await expect(uploadFile(client, broken)).rejects.toThrow('the disk is gone');
  await expect(uploadFile(client, new Blob([content]), { idleMs: 200 })).rejects.toThrow('Nothing moved for 200 ms');
});

it('sends a Blob again with renewed credentials', async () => {
  let token = 'old';
  await using server = await FileServer.start({
    answer: (request, response) => {
      if (request.headers.authorization === 'Bearer new') void store(request, response);
      else request.resume().on('end', () => response.writeHead(401, { 'www-authenticate': 'Bearer' }).end());
      return true;
    },
  });
  const client = await clientAt(server.url, {
    credentials: {
      credentials: async () => ({ headers: { authorization: `Bearer ${token}` } }),
      refused: async () => {
        token = 'new';
        return true;
      },
    },
  });
  expect(await uploadFile(client, new Blob([content]))).toMatchObject({ size: content.length });
  token = 'old';
  await expect(uploadFile(client, new Blob([content]).stream())).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
});
