import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { openRedisStorage, type RedisTlsOptions } from '../../packages/redis/src/index.js';
import { makeAuthority } from '../credentials/certificates.js';
import { freePort } from '../support/servers/free-port.js';
import { RedisServer } from '../support/servers/redis-server.js';

const authority = makeAuthority('Redis of the tests');
const stranger = makeAuthority('Another authority');
let server: RedisServer;
let url: string;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-redis-tls-'));
  const { cert, key } = authority.server();
  const files = { ca: authority.ca, cert, key };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const port = await freePort();
  const at = (name: keyof typeof files) => join(folder, name);
  const tls = ['--tls-port', String(port), '--tls-ca-cert-file', at('ca'), '--tls-cert-file', at('cert')];
  server = await RedisServer.start(...tls, '--tls-key-file', at('key'), '--tls-auth-clients', 'yes');
  url = `rediss://127.0.0.1:${port}`;
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const open = (tls: RedisTlsOptions) =>
  openRedisStorage({ url, tls, logger: silentLogger, connectTimeoutMs: 2_000, commandTimeoutMs: 2_000 });

describe('a storage in Redis over TLS', () => {
  it('sends its certificate, and verifies that of the server', async () => {
    const storage = await open({ ca: authority.ca, ...authority.client('parley') });
    await storage.check();
    await storage.close();
  });

  it.each<[string, RedisTlsOptions]>([
    ['a server of another authority', { ca: stranger.ca, ...authority.client('parley') }],
    ['the authorities of the host alone', authority.client('parley')],
    [
      'another name in the certificate',
      { ca: authority.ca, ...authority.client('parley'), servername: 'elsewhere.example' },
    ],
    ['no certificate of its own', { ca: authority.ca }],
    ['a certificate that the server does not know', { ca: authority.ca, ...stranger.client('parley') }],
  ])('refuses %s', async (_, tls) => {
    await expect(open(tls)).rejects.toMatchObject({
      name: 'StorageError',
      message: expect.stringContaining('127.0.0.1'),
    });
  });
});
