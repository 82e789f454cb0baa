import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { requestChunks } from './request-chunks.js';

const closers: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closers.splice(0).reverse()) close();
});

const SIZE = 20_000_000;

/** A request with a body of that many bytes that is announced, and the socket that sends it. */
async function openRequest(): Promise<{ readonly incoming: IncomingMessage; readonly socket: Socket }> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  closers.push(
    () => server.close(),
    () => socket.destroy(),
  );
  const asked = once(server, 'request');
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${SIZE}\r\n\r\n`);
  const [incoming] = (await asked) as [IncomingMessage];
  return { incoming, socket };
}

it('gives all bytes in order, and frees each chunk when the next one is asked for', async () => {
  const { incoming, socket } = await openRequest();
  const sent = Buffer.from(Uint8Array.from({ length: SIZE }, (_, at) => at % 251));
  socket.write(sent);
  let size = 0;
  let last: Uint8Array | undefined;
  for await (const chunk of requestChunks(incoming)) {
    if (last !== undefined) expect(last.length).toBe(0);
    expect(sent.subarray(size, size + chunk.length).equals(chunk)).toBe(true);
    size += chunk.length;
    last = chunk;
  }
  expect(size).toBe(SIZE);
});

it('lets the peer wait while its reader does', async () => {
  const { incoming, socket } = await openRequest();
  const chunks = requestChunks(incoming);
  const isFlushed = socket.write(Buffer.alloc(SIZE));
  await chunks.next();
  expect(isFlushed).toBe(false);
  // The peer has sent what fits into the buffers of the system, and the reader holds a small part of that.
  while (!incoming.isPaused()) await new Promise((resolve) => setImmediate(resolve));
  expect(incoming.socket.bytesRead).toBeLessThan(SIZE / 2);
  let size = 0;
  for await (const chunk of chunks) size += chunk.length;
  expect(size).toBeGreaterThan(SIZE / 2);
});

it('leaves memory that another listener has', async () => {
  const { incoming, socket } = await openRequest();
  const tapped: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => tapped.push(chunk)).pause();
  socket.write(Buffer.alloc(SIZE, 'x'));
  for await (const _ of requestChunks(incoming)) {
    // Reads to the end.
  }
  expect(Buffer.concat(tapped).length).toBe(SIZE);
});

it('fails if the peer leaves early, before or while it is read', async () => {
  const { incoming, socket } = await openRequest();
  const chunks = requestChunks(incoming);
  socket.write('some');
  expect((await chunks.next()).value?.length).toBe(4);
  socket.destroy();
  await expect(chunks.next()).rejects.toMatchObject({ code: 'INVALID_REQUEST' });

  const gone = await openRequest();
  const closed = new Promise((resolve) => gone.incoming.on('error', () => {}).on('close', resolve));
  gone.socket.destroy();
  await closed;
  await expect(requestChunks(gone.incoming).next()).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
});
