import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BearerTokens, ClientCertificates } from 'parley-a2a/auth';
import { describe, expect, it } from 'vitest';
import { makeAuthority } from '../credentials/certificates.js';
import { afterTest, FILES, failure, failureOf, GrpcTester, grpc, message, serve } from './grpc-world.js';
import { answerOf, callHeaders, frame, rawCall, rawSession, sendMessageBytes } from './raw-http2.js';

const SECRET = 'pl4nted-s3cret-ada-0123456789abcdef';
const OTHER = 'pl4nted-s3cret-bob-0123456789abcdef';
const tokens = () =>
  new BearerTokens([
    { subject: 'ada', token: SECRET },
    { subject: 'bob', token: OTHER },
  ]);
const ada = { authorization: `Bearer ${SECRET}` };
const bob = { authorization: `Bearer ${OTHER}` };

describe('a protected agent over gRPC', () => {
  it('refuses callers without a credential, and names the challenge', async () => {
    const { address } = await serve({ authenticator: tokens() });
    const tester = new GrpcTester(address);
    const refused = await failure(tester.call('SendMessage', { message: message('hi') }));
    expect(refused).toMatchObject({ code: 'UNAUTHENTICATED', details: [{ value: { reason: 'UNAUTHENTICATED' } }] });
    expect(refused.metadata.get('www-authenticate')).toEqual(['Bearer']);
    expect((await tester.call('SendMessage', { message: message('hi') }, ada)).value).toMatchObject({ message: {} });
  });

  it('tells them nothing of its methods, and shows no descriptors', async () => {
    const { address } = await serve({ authenticator: tokens() });
    const { raw } = new GrpcTester(address);
    const same = (bytes: Buffer) => bytes;
    for (const path of ['/lf.a2a.v1.A2AService/Nothing', '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo']) {
      const code = await new Promise((resolve) => {
        raw.makeUnaryRequest(path, same, same, Buffer.alloc(0), (error) => resolve(error?.code));
      });
      expect(code, path).toBe(grpc.status.UNAUTHENTICATED);
    }
    const health = await new GrpcTester(address, { file: FILES.health }).call('Check', {});
    expect(health.value).toEqual({ status: 'SERVING' });
  });

  it('does not read a large message of such a caller', async () => {
    const { port } = await serve({ authenticator: tokens() });
    const head = frame(Buffer.alloc(1_000), { length: 5_000_000 });
    expect(await answerOf(rawCall(rawSession(port), [head], { open: true }))).toMatchObject({ status: 16 });
  });

  it('refuses a credential that comes twice', async () => {
    const { port } = await serve({ authenticator: tokens() });
    const headers = callHeaders('SendMessage', { authorization: [`Bearer ${SECRET}`, `Bearer ${OTHER}`] as never });
    const once = callHeaders('SendMessage', { authorization: `Bearer ${SECRET}` });
    const call = (sent: typeof headers) =>
      answerOf(rawCall(rawSession(port), [frame(sendMessageBytes('a'))], { headers: sent }));
    expect(await call(once)).toMatchObject({ status: 0 });
    const raw = (await call(headers)).status;
    expect(raw).toBe(16);
  });

  it('hides the tasks of one user from others (Spec §13.1)', async () => {
    const { address } = await serve({ authenticator: tokens() });
    const tester = new GrpcTester(address);
    const [first] = await tester.events('SendStreamingMessage', { message: message('task') }, ada);
    const { id } = (first as { task: { id: string } }).task;
    expect(await failure(tester.call('GetTask', { id }, bob))).toMatchObject({ code: 'NOT_FOUND' });
    expect((await tester.call('GetTask', { id }, ada)).value).toMatchObject({ id });
    expect((await tester.call('ListTasks', {}, bob)).value).not.toHaveProperty('tasks');
  });

  it('ends a stream with the credential', async () => {
    const revoked = new AbortController();
    const { address } = await serve({
      authenticator: {
        challenges: ['Bearer'],
        securitySchemes: {},
        authenticate: async () => ({ kind: 'user', user: { id: 'ada' }, revoked: revoked.signal }),
      } as never,
      agent: {
        async execute(context, events) {
          await events.working();
          await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
        },
      },
    });
    const stream = new GrpcTester(address).stream('SendStreamingMessage', { message: message('go') });
    const ended = new Promise((resolve) => stream.on('error', (error) => resolve(failureOf(error as never))));
    await new Promise((resolve) => stream.once('data', resolve));
    stream.on('data', () => {});
    revoked.abort();
    expect(await ended).toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('has rates, and says when to try again', async () => {
    const { address } = await serve({
      authenticator: tokens(),
      rateLimit: { perPrincipal: { requests: 2, windowMs: 60_000 } } as never,
    });
    const tester = new GrpcTester(address);
    const call = () => tester.call('SendMessage', { message: message('hi') }, ada);
    await call();
    await call();
    const refused = await failure(call());
    expect(refused.code).toBe('RESOURCE_EXHAUSTED');
    expect(refused.details.map(({ type }) => type)).toContain('RetryInfo');
    expect(Number(refused.metadata.get('retry-after')[0])).toBeGreaterThan(0);
  });

  it('writes audit records of calls and refusals', async () => {
    const records: unknown[] = [];
    const { address } = await serve({
      authenticator: tokens(),
      audit: { write: (record: unknown) => void records.push(record) } as never,
    });
    const tester = new GrpcTester(address);
    await tester.call('SendMessage', { message: message('hi') }, ada);
    await failure(tester.call('SendMessage', { message: message('hi') }));
    expect(JSON.stringify(records)).toContain('GRPC');
    expect(records).toHaveLength(2);
  });
});

describe('TLS', () => {
  const authority = makeAuthority('Parley test');
  const ca = Buffer.from(authority.ca);

  it('is that of the server, and a certificate of the client is its credential', async () => {
    const { address, server } = await serve({
      tls: { ...authority.server(), ca: authority.ca },
      authenticator: new ClientCertificates([{ commonName: 'ada', subject: 'ada' }]),
    });
    const old = server.interfaces.find((one) => one.protocolBinding === 'GRPC' && one.protocolVersion === '0.3');
    expect(old?.url).toBe(address);
    const { cert, key } = authority.client('ada');
    const known = new GrpcTester(address, {
      credentials: grpc.credentials.createSsl(ca, Buffer.from(key), Buffer.from(cert)),
    });
    expect((await known.call('SendMessage', { message: message('hi') })).value).toMatchObject({ message: {} });
    const unknown = new GrpcTester(address, { credentials: grpc.credentials.createSsl(ca) });
    expect(await failure(unknown.call('SendMessage', { message: message('hi') }))).toMatchObject({
      code: 'UNAUTHENTICATED',
    });
  });

  it('takes a renewed certificate from its file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-grpc-'));
    afterTest(() => rmSync(folder, { recursive: true, force: true }));
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    const write = (pair: { cert: string; key: string }) => {
      writeFileSync(key, pair.key);
      writeFileSync(cert, pair.cert);
    };
    write(authority.server());
    const { port } = await serve({}, { tls: { cert, key, reloadMs: 20 } });
    const fresh = makeAuthority('Another one');
    write(fresh.server());
    const call = () => {
      const credentials = grpc.credentials.createSsl(Buffer.from(fresh.ca));
      const tester = new GrpcTester(`127.0.0.1:${port}`, { credentials });
      return tester.call('SendMessage', { message: message('hi') }, {}, { deadline: Date.now() + 2_000 });
    };
    await expect
      .poll(
        () =>
          call().then(
            () => 'served',
            () => 'refused',
          ),
        { timeout: 10_000 },
      )
      .toBe('served');
  });
});

describe('an open agent on loopback over gRPC', () => {
  const statusFor = async (port: number, authority: string | undefined, further: Record<string, string> = {}) => {
    const headers = {
      ...callHeaders('SendMessage', further),
      ...(authority !== undefined && { ':authority': authority }),
    };
    return answerOf(rawCall(rawSession(port), [frame(sendMessageBytes('a'))], { headers }));
  };

  it('refuses the authority of another machine, and names the option', async () => {
    const { port } = await serve();
    for (const authority of ['evil.example', 'evil.example:50051', '127.0.0.1.evil.example']) {
      const refused = await statusFor(port, authority);
      expect([authority, refused.status]).toEqual([authority, grpc.status.PERMISSION_DENIED]);
      expect(decodeURIComponent(String(refused.message))).toContain('publicHosts');
      expect((await statusFor(port, authority, { host: 'localhost' })).status).toBe(grpc.status.PERMISSION_DENIED);
    }
    for (const authority of [undefined, 'localhost', `127.0.0.1:${port}`, '[::1]:1'])
      expect([authority, (await statusFor(port, authority)).status]).toEqual([authority, grpc.status.OK]);
  });

  it('answers for public hosts, and for any host behind a trusted proxy', async () => {
    const listed = await serve({ publicHosts: ['agents.example.com'] });
    expect((await statusFor(listed.port, 'agents.example.com:443')).status).toBe(grpc.status.OK);
    const behind = await serve({ trustProxy: ['loopback'] });
    expect((await statusFor(behind.port, 'agents.example.com')).status).toBe(grpc.status.OK);
  });
});
