import { type ChildProcess, fork } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type ClientRequest, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { connect, uploadFile } from '../../packages/parley/src/exports/client.js';
import type { AgentCard } from '../../packages/parley/src/exports/everywhere.js';
import { type FileTransferOptions, fileTransfer, memoryFileStore } from '../../packages/parley/src/exports/files.js';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import { DirectoryFileStore } from '../../packages/parley/src/files/directory/directory-file-store.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { freePort } from '../support/servers/free-port.js';
import { withoutUploads } from '../support/store-without-uploads.js';

const root = mkdtempSync(join(tmpdir(), 'parley-uploads-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const SCOPE = { agent: '/', tenant: '', owner: null };
const OFFSET_TYPE = { 'content-type': 'application/offset+octet-stream' };
const digestField = (bytes: Uint8Array) => `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`;
const metadata = (name: string, type: string) =>
  `filename ${Buffer.from(name).toString('base64')},filetype ${Buffer.from(type).toString('base64')}`;
let folders = 0;

function newFolder(): string {
  folders += 1;
  return join(root, String(folders));
}

/** A server with files in a directory. */
async function serveFiles(files: Partial<FileTransferOptions> = {}, told?: string, port = 0) {
  const store = files.store ?? new DirectoryFileStore({ path: newFolder(), clock: systemClock, ids: systemIds });
  const server = createA2AServer({
    agent: async () => 'done',
    files: fileTransfer({ ...files, store }),
    ...(told && { url: told }),
  });
  closers.push(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(port);
  return { store, base: new URL(url).origin, files: `${new URL(url).origin}/a2a/files` };
}

/** Begins an upload, and resolves to its url. */
async function beginUpload(files: string, size: number, headers: Record<string, string> = {}): Promise<string> {
  const answer = await fetch(files, { method: 'POST', headers: { 'upload-length': String(size), ...headers } });
  expect([answer.status, await answer.text()]).toEqual([201, '']);
  return answer.headers.get('location') ?? '';
}

function append(url: string, offset: number, body: Uint8Array | string, headers: Record<string, string> = {}) {
  const all = { ...OFFSET_TYPE, 'upload-offset': String(offset), ...headers };
  return fetch(url, { method: 'PATCH', headers: all, body: body as NonNullable<RequestInit['body']> });
}

async function offsetOf(url: string): Promise<number> {
  const answer = await fetch(url, { method: 'HEAD', headers: { 'tus-resumable': '1.0.0' } });
  return Number(answer.headers.get('upload-offset'));
}

/** Sends a beginning of a request with bytes, and leaves it open. */
function startPatch(url: string, offset: number, size: number, bytes: Uint8Array): ClientRequest {
  const headers = { ...OFFSET_TYPE, 'upload-offset': offset, 'content-length': size };
  const call = request(url, { method: 'PATCH', headers }).on('error', () => {});
  call.write(bytes);
  closers.push(() => call.destroy());
  return call;
}

/** Waits until an upload has so many bytes. A HEAD would end the request that sends them. */
async function waitForBytes(
  store: Awaited<ReturnType<typeof serveFiles>>['store'],
  url: string,
  bytes: number,
): Promise<void> {
  while (((await store.uploads?.find(SCOPE, url.slice(-32)))?.offset ?? 0) < bytes)
    await new Promise((resolve) => setImmediate(resolve));
}

const content = randomBytes(700_000);

describe('an upload in several requests', () => {
  it('becomes a file at its own url', async () => {
    const { files } = await serveFiles();
    const url = await beginUpload(files, content.length, {
      'tus-resumable': '1.0.0',
      'upload-metadata': metadata('../a "b".bin', 'application/x-thing'),
      'repr-digest': digestField(content),
    });
    const first = await append(url, 0, content.subarray(0, 300_000));
    expect([first.status, first.headers.get('upload-offset')]).toEqual([204, '300000']);
    expect((await fetch(url)).status).toBe(404);
    const head = await fetch(url, { method: 'HEAD' });
    expect(Object.fromEntries(head.headers)).toMatchObject({
      'tus-resumable': '1.0.0',
      'upload-offset': '300000',
      'upload-length': '700000',
      'upload-expires': expect.stringMatching(/GMT$/),
      'cache-control': 'no-store',
    });
    const last = await append(url, 300_000, content.subarray(300_000));
    expect(last.status).toBe(200);
    expect(await last.json()).toMatchObject({
      url,
      filename: 'a _b_.bin',
      mediaType: 'application/x-thing',
      size: 700_000,
      digest: digestField(content),
    });
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(content)).toBe(true);
    // The answer may have been lost.
    const whole = await fetch(url, { method: 'HEAD', headers: { 'tus-resumable': '1.0.0' } });
    expect(whole.headers.get('upload-offset')).toBe('700000');
    const again = await append(url, 700_000, '');
    expect([again.status, await again.json()]).toEqual([200, expect.objectContaining({ url, size: 700_000 })]);
    expect((await append(url, 0, 'x')).status).toBe(409);
  });

  it('becomes a file of a store in memory too', async () => {
    const { files } = await serveFiles({ store: memoryFileStore() });
    const url = await beginUpload(files, content.length);
    expect((await append(url, 0, content.subarray(0, 300_000))).status).toBe(204);
    expect(await offsetOf(url)).toBe(300_000);
    expect((await append(url, 300_000, content.subarray(300_000))).status).toBe(200);
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(content)).toBe(true);
  });

  it('is declared in the card, and found by OPTIONS', async () => {
    const { base, files } = await serveFiles({ maxBytes: 1234 });
    const card = await (await fetch(`${base}/.well-known/agent-card.json`)).text();
    expect(card).toContain('"resumable":"1.0.0"');
    const options = await fetch(files, { method: 'OPTIONS' });
    expect(Object.fromEntries(options.headers)).toMatchObject({ 'tus-version': '1.0.0', 'tus-max-size': '1234' });
  });

  it('may be empty', async () => {
    const { files } = await serveFiles();
    const url = await beginUpload(files, 0);
    expect(await (await fetch(url)).text()).toBe('');
  });

  it('keeps what came before a cut', async () => {
    const { files, store } = await serveFiles();
    const url = await beginUpload(files, content.length);
    const call = startPatch(url, 0, content.length, content.subarray(0, 400_000));
    await waitForBytes(store, url, 262_144);
    call.destroy();
    while ((await offsetOf(url)) < 400_000);
    expect((await append(url, 400_000, content.subarray(400_000))).status).toBe(200);
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(content)).toBe(true);
  });

  it('goes on while the server still waits for a peer that has left', async () => {
    const { files, store } = await serveFiles();
    const url = await beginUpload(files, content.length);
    const stuck = startPatch(url, 0, content.length, content.subarray(0, 400_000));
    await waitForBytes(store, url, 262_144);
    const answered = once(stuck, 'response');
    const offset = await offsetOf(url);
    expect((await append(url, offset, content.subarray(offset))).status).toBe(200);
    expect((await answered)[0].statusCode).toBe(400);
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(content)).toBe(true);
  });

  it('takes each byte once, whatever requests come at the same time', async () => {
    const { files } = await serveFiles();
    const url = await beginUpload(files, content.length);
    await Promise.all(Array.from({ length: 8 }, () => append(url, 0, content).catch(() => {})));
    // Some of the requests may still wait for their turn at the server.
    for (let offset = 0; offset < content.length; offset = await offsetOf(url))
      await append(url, offset, content.subarray(offset)).catch(() => {});
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(content)).toBe(true);
  });

  it('goes on after the server was killed', async () => {
    const folder = newFolder();
    const start = async (): Promise<{ readonly child: ChildProcess; readonly files: string }> => {
      const child = fork(new URL('./upload-server.mjs', import.meta.url), [folder]);
      closers.push(() => child.kill());
      const [{ files }] = (await once(child, 'message')) as [{ readonly files: string }];
      return { child, files };
    };
    const first = await start();
    const url = await beginUpload(first.files, content.length, { 'upload-metadata': metadata('a.bin', 'x/y') });
    startPatch(url, 0, content.length, content.subarray(0, 400_000));
    const reader = new DirectoryFileStore({ path: folder, clock: systemClock, ids: systemIds });
    await waitForBytes(reader, url, 262_144);
    const exited = once(first.child, 'exit');
    first.child.kill('SIGKILL');
    await exited;
    const { files } = await start();
    const moved = `${files}/${url.slice(-32)}`;
    const offset = await offsetOf(moved);
    expect(offset).toBeGreaterThanOrEqual(262_144);
    const last = await append(moved, offset, content.subarray(offset));
    expect(await last.json()).toMatchObject({ filename: 'a.bin', mediaType: 'x/y', digest: digestField(content) });
  });
});

describe('an upload in several requests is refused', () => {
  it.each([
    ['at another offset', 1, 'x', {}, 409],
    ['for more bytes than its size', 0, 'x'.repeat(11), {}, 400],
    ['without an offset', 0, 'x', { 'upload-offset': '' }, 400],
    ['with another type', 0, 'x', { 'content-type': 'text/plain' }, 415],
    ['in another version', 0, 'x', { 'tus-resumable': '0.2.2' }, 412],
  ])('%s, and stays', async (_, offset, body, headers, status) => {
    const { files } = await serveFiles();
    const url = await beginUpload(files, 10);
    expect((await append(url, offset, body, headers as Record<string, string>)).status).toBe(status);
    expect((await append(url, await offsetOf(url), '0123456789')).status).toBe(200);
  });

  it.each([
    ['with a wrong digest', { 'repr-digest': digestField(Buffer.from('other')) }, 400],
    ['with bytes of another type', { 'upload-metadata': metadata('a.png', 'image/png') }, 415],
  ])('at its end %s, and is gone', async (_, headers, status) => {
    const { files, store } = await serveFiles();
    const url = await beginUpload(files, 10, headers);
    expect((await append(url, 0, '0123456789')).status).toBe(status);
    expect((await append(url, 10, '')).status).toBe(404);
    expect(await store.usage(SCOPE)).toEqual({ files: 0, bytes: 0 });
  });

  it('without a size, with bytes, and beyond the limits', async () => {
    const { files } = await serveFiles({ maxBytes: 100_000, ownerBytes: 150_000 });
    const post = async (headers: Record<string, string>, body?: string) =>
      (await fetch(files, { method: 'POST', headers, ...(body !== undefined && { body }) })).status;
    expect(await post({ 'tus-resumable': '1.0.0' })).toBe(400);
    expect(await post({ 'upload-length': '-1' })).toBe(400);
    expect(await post({ 'upload-length': '9' }, 'bytes')).toBe(400);
    expect(await post({ 'upload-length': '9', 'upload-metadata': 'filetype PGE+' })).toBe(400);
    expect(await post({ 'upload-length': '100001' })).toBe(413);
    const url = await beginUpload(files, 100_000);
    expect(await post({ 'upload-length': '100000' })).toBe(429);
    expect(await post({}, 'x'.repeat(60_000))).toBe(429);
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(204);
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(404);
    await beginUpload(files, 100_000);
  });

  it('by a store that takes none', async () => {
    const { files } = await serveFiles({ store: withoutUploads(memoryFileStore()) });
    const answer = await fetch(files, { method: 'POST', headers: { 'upload-length': '9' } });
    expect([answer.status, await answer.text()]).toEqual([501, expect.stringContaining('in one request')]);
  });
});

describe('our client', () => {
  const large = randomBytes(12_000_000);

  it.each([
    ['the bytes are cut twice', { at: 5_000_000, times: 2 }, 2],
    ['the answer to the last request is lost', { at: '"digest": "sha-256', times: 1 }, 1],
  ])('goes on with its upload if %s', async (_, cut, cuts) => {
    const port = await freePort();
    await using proxy = await CuttingProxy.open(port, cut);
    const { base, files } = await serveFiles({}, proxy.url, port);
    const card = await (await fetch(`${base}/.well-known/agent-card.json`)).json();
    const bytes: number[] = [];
    const stored = await uploadFile(await connect(card as AgentCard), new Blob([large], { type: 'x/y' }), {
      filename: 'ä.bin',
      onProgress: (progress) => bytes.push(progress.bytes),
    });
    expect(proxy.cuts).toBe(cuts);
    expect(stored).toMatchObject({ filename: 'ä.bin', mediaType: 'x/y', size: large.length });
    expect(bytes.at(-1)).toBe(large.length);
    // Received bytes are not sent again.
    expect(bytes.filter((at, index) => at < (bytes[index - 1] ?? 0)).every((at) => at > 1_000_000)).toBe(true);
    const read = await fetch(`${files}/${stored.id}`);
    expect(Buffer.from(await read.arrayBuffer()).equals(large)).toBe(true);
  });

  it('goes on with an upload of an earlier process, and takes none of another size or server', async () => {
    const { base, files } = await serveFiles();
    const card = (await (await fetch(`${base}/.well-known/agent-card.json`)).json()) as AgentCard;
    const earlier = await beginUpload(files, large.length, { 'upload-metadata': metadata('a.bin', 'x/y') });
    await append(earlier, 0, large.subarray(0, 9_000_000));
    const upload = async (from: string, told: string[] = []) => {
      const bytes: number[] = [];
      const client = await connect(card);
      const onProgress = (progress: { readonly bytes: number }) => bytes.push(progress.bytes);
      const file = await uploadFile(client, large, { from, onProgress, onBegin: (url) => told.push(url) });
      return { file, first: bytes[0] ?? 0, told };
    };
    const went = await upload(earlier);
    expect([went.file.url, went.told, went.first > 9_000_000]).toEqual([earlier, [], true]);
    // Its last answer may have been lost.
    expect((await upload(earlier)).file.url).toBe(earlier);
    const gone = [
      `${files}/${'0'.repeat(32)}`,
      await beginUpload(files, 9),
      `${(await serveFiles()).files}/${'0'.repeat(32)}`,
    ];
    for (const from of gone) {
      const { file, told } = await upload(from);
      expect(told).toEqual([file.url]);
      expect(file.url).not.toBe(from);
    }
  });
});
