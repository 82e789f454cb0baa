import { once } from 'node:events';
import { request } from 'node:https';
import { connect as connectSocket, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { CapturingLogger } from '../../packages/parley/test/engine.js';
import { makeAuthority } from '../credentials/certificates.js';
import { afterTest, GrpcTester, grpc, message, serve, standStillAfter } from './grpc-world.js';
import { callHeaders, rawSession } from './raw-http2.js';

const authority = makeAuthority('Parley test');
const SHARED = { port: 'shared' } as const;

/** A connection that tells when it has ended. */
async function socketTo(port: number): Promise<{ readonly socket: Socket; readonly ended: Promise<string> }> {
  const socket = connectSocket(port, '127.0.0.1');
  afterTest(() => socket.destroy());
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  await once(socket, 'connect');
  return { socket, ended };
}

describe('one port for HTTP and gRPC', () => {
  it('answers both, and says so in the card', async () => {
    const { url, address } = await serve({}, SHARED);
    expect(address).toBe(new URL(url).host);
    for (let round = 0; round < 2; round++) {
      const card = await fetch(`${url}/.well-known/agent-card.json`);
      expect(card.status).toBe(200);
      const posted = await fetch(`${url}/a2a/rest/message:send`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
        body: JSON.stringify({ message: message('x'.repeat(200_000)) }),
      });
      expect(((await posted.json()) as { message: { parts: [{ text: string }] } }).message.parts[0].text).toHaveLength(
        'You said: '.length + 200_000,
      );
    }
    const { value } = await new GrpcTester(address).call('SendMessage', { message: message('hi') });
    expect(value).toMatchObject({ message: { parts: [{ text: 'You said: hi' }] } });
  });

  it('tells them apart when the first bytes come one by one', async () => {
    const { url, port } = await serve({}, SHARED);
    const { socket, ended } = await socketTo(port);
    const request = `GET /.well-known/agent-card.json HTTP/1.1\r\nHost: ${new URL(url).host}\r\nConnection: close\r\n\r\n`;
    for (const byte of request) {
      socket.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await ended).toMatch(/^HTTP\/1\.1 200 /);

    const slow = await socketTo(port);
    const first = once(slow.socket, 'data');
    for (const byte of 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n') {
      slow.socket.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    slow.socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    const [settings] = (await first) as [Buffer];
    // The type of the first frame of the server is SETTINGS.
    expect(settings[3]).toBe(4);
  });

  it('drops a client that says nothing, and one that stops in the first bytes', async () => {
    const logger = new CapturingLogger();
    const { port } = await serve({ http: { headersMs: 200 }, logger }, SHARED);
    const silent = await socketTo(port);
    const stopped = await socketTo(port);
    stopped.socket.write('PRI * HT');
    expect(await silent.ended).toBe('');
    expect(await stopped.ended).toBe('');
    const limits = logger.lines.filter(({ message: text }) => text === 'A limit was reached');
    expect(limits.map(({ fields }) => fields?.limit)).toEqual(['headersMs', 'headersMs']);
  });

  it('reads what waited while the process stood still before it drops a client', async () => {
    const { url, port } = await serve({ http: { headersMs: 200 } }, SHARED);
    const { socket, ended } = await socketTo(port);
    await fetch(`${url}/.well-known/agent-card.json`);
    const request = `GET /.well-known/agent-card.json HTTP/1.1\r\nHost: ${new URL(url).host}\r\nConnection: close\r\n\r\n`;
    await standStillAfter(() => socket.write(request), 600);
    expect(await ended).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('closes with the server though a client says nothing', async () => {
    const { port, server, url } = await serve({ http: { headersMs: 100_000 } }, SHARED);
    const silent = await socketTo(port);
    // The server has accepted the connection once it has answered a later one.
    await fetch(url);
    await server.close({ graceMs: 0 });
    expect(await silent.ended).toBe('');
  });

  it('has the limits of gRPC, and refuses what is no call', async () => {
    const { port } = await serve({}, { ...SHARED, maxConnections: 1 });
    const session = rawSession(port);
    const stream = session.request({ ...callHeaders(), ':method': 'GET' }, { endStream: true });
    const [headers] = await once(stream, 'response');
    expect(headers).toMatchObject({ ':status': 405 });
    const second = rawSession(port);
    await once(second, 'close');
    expect(session.destroyed).toBe(false);
  });

  it('closes with the server, and lets a running call end', async () => {
    const { address, server, url } = await serve({}, SHARED);
    const tester = new GrpcTester(address);
    await tester.call('SendMessage', { message: message('hi') });
    await server.close({ graceMs: 500 });
    await expect(fetch(url)).rejects.toThrow();
    await expect(tester.call('SendMessage', { message: message('hi') })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});

describe('one port with TLS', () => {
  it('tells them apart by ALPN, and gives browsers HTTP/1.1', async () => {
    const { address, url } = await serve({ tls: authority.server() }, SHARED);
    expect(address).toBe(new URL(url).host);
    const credentials = grpc.credentials.createSsl(Buffer.from(authority.ca));
    const { value } = await new GrpcTester(address, { credentials }).call('SendMessage', { message: message('hi') });
    expect(value).toMatchObject({ message: { parts: [{ text: 'You said: hi' }] } });
    // A browser offers HTTP/2 first.
    for (const ALPNProtocols of [undefined, ['h2', 'http/1.1']]) {
      const options = { ca: authority.ca, ...(ALPNProtocols && { ALPNProtocols }) };
      const [answer] = await once(request(`${url}/.well-known/agent-card.json`, options).end(), 'response');
      expect(answer.resume().statusCode).toBe(200);
    }
  });
});
