import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { parley, ServedAgent } from './parley.js';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'parley-keys-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

async function statusOf(url: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const response = await fetch(new URL('/a2a/rest/tasks', url), { headers: { 'a2a-version': '1.0', ...headers } });
  await response.text();
  return response.status;
}

async function createKey(...args: string[]): Promise<{ readonly key: string; readonly entry: object }> {
  const { code, stdout } = await parley(['keys', 'create', ...args, '--output', 'json']);
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

describe('parley keys create', () => {
  it('prints the key once, and stores its hash', async () => {
    const file = join(folder(), 'keys.json');
    const ada = await createKey('ada', '--api-keys-file', file, '--scope', 'read write', '--expires', '90d');
    const bob = await createKey('bob', '--api-keys-file', file);
    const text = readFileSync(file, 'utf8');
    expect(JSON.parse(text)).toEqual([ada.entry, bob.entry]);
    expect(ada.entry).toMatchObject({ subject: 'ada', scopes: ['read', 'write'], expiresAt: expect.any(String) });
    expect(text).not.toContain(ada.key);
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  it('without a file prints the entry, and the variable if that can express it', async () => {
    const { stdout } = await parley(['keys', 'create', 'ada']);
    const [, key, hash] = /^Key: (parley_[\w-]{43})\nEntry: {"subject":"ada","sha256":"(\w+)"}\n/.exec(stdout) ?? [];
    expect(stdout).toContain(`\nA2A_API_KEYS: ada=sha256:${hash}\n`);
    await using agent = await ServedAgent.start(['serve', '--echo'], { env: { A2A_API_KEYS: `ada=sha256:${hash}` } });
    expect(await statusOf(agent.url, { 'x-api-key': key ?? '' })).toBe(200);
    expect(await statusOf(agent.url)).toBe(401);
    for (const args of [['ada', '--scope', 'read'], ['a=b'], ['a,b']])
      expect((await parley(['keys', 'create', ...args])).stdout).not.toContain('A2A_API_KEYS');
  });

  it('does not change a file of another form', async () => {
    const file = join(folder(), 'keys.json');
    writeFileSync(file, 'secret');
    const { code, stderr } = await parley(['keys', 'create', 'ada', '--api-keys-file', file]);
    expect([code === 0, readFileSync(file, 'utf8')]).toEqual([false, 'secret']);
    expect(stderr).toContain('is no list of keys');
  });
});

describe('parley serve with API keys', () => {
  it('accepts keys of the file, also added ones, beyond loopback', async () => {
    const file = join(folder(), 'keys.json');
    const ada = await createKey('ada', '--api-keys-file', file);
    await using agent = await ServedAgent.start(['serve', '--echo', '--host', '0.0.0.0', '--api-keys-file', file]);
    const statuses = [await statusOf(agent.url), await statusOf(agent.url, { 'x-api-key': ada.key })];
    expect(statuses).toEqual([401, 200]);
    const bob = await createKey('bob', '--api-keys-file', file);
    writeFileSync(file, JSON.stringify([bob.entry]));
    await vi.waitFor(async () => expect(await statusOf(agent.url, { 'x-api-key': bob.key })).toBe(200), 60_000);
    expect(await statusOf(agent.url, { 'x-api-key': ada.key })).toBe(401);
  });

  it('accepts keys in another header together with client certificates from a proxy, and limits users', async () => {
    const file = join(folder(), 'keys.json');
    const { key } = await createKey('ada', '--api-keys-file', file);
    await using agent = await ServedAgent.start([
      ...['serve', '--echo', '--api-keys-file', file, '--api-key-place', 'header:X-Agent-Key'],
      ...['--client-cert-proxy', '127.0.0.1', '--client-cert-format', 'envoy', '--auth-require', 'all'],
      ...['--rate-limit-address', 'off', '--rate-limit-user', '3/h'],
    ]);
    const certificate = (name: string) => ({
      'x-forwarded-client-cert': `Hash=${'a'.repeat(64)};Subject="CN=${name}"`,
    });
    const refused = [
      { 'x-agent-key': key },
      { 'x-api-key': key, ...certificate('ada') },
      { 'x-agent-key': key, ...certificate('bob') },
    ];
    for (const headers of refused) expect(await statusOf(agent.url, headers)).toBe(401);
    const both = { 'x-agent-key': key, ...certificate('ada') };
    const statuses: number[] = [];
    for (let call = 0; call < 4; call++) statuses.push(await statusOf(agent.url, both));
    expect(statuses).toEqual([200, 200, 200, 429]);
  });

  it.each<[string, object, string]>([
    [
      'an end with another name',
      { expires: '2020-01-01' },
      'ada: unknown option "expires" (did you mean "expiresAt"?)',
    ],
    ['scopes with another name', { scope: ['read'] }, 'ada: unknown option "scope" (did you mean "scopes"?)'],
    ['a switch that does not exist', { disabled: true }, 'ada: unknown option "disabled"'],
    ['a key and a hash', { key: 'key-of-ada' }, 'ada must have either key or sha256'],
  ])('does not start with a file that has %s', async (_, more, problem) => {
    const file = join(folder(), 'keys.json');
    writeFileSync(file, JSON.stringify([{ subject: 'ada', sha256: 'a'.repeat(64), ...more }]));
    const { code, stderr } = await parley(['serve', '--echo', '--api-keys-file', file]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(problem)]);
  });

  it('keeps the last keys if a changed file has an unknown member', async () => {
    const file = join(folder(), 'keys.json');
    const ada = await createKey('ada', '--api-keys-file', file);
    await using agent = await ServedAgent.start(['serve', '--echo', '--api-keys-file', file]);
    const eve = {
      subject: 'eve',
      sha256: createHash('sha256').update('key-of-eve').digest('hex'),
      expires: '2020-01-01',
    };
    writeFileSync(file, JSON.stringify([ada.entry, eve]));
    await agent.running.waitForStderr(/the last ones stay in force/);
    expect(await statusOf(agent.url, { 'x-api-key': 'key-of-eve' })).toBe(401);
    expect(await statusOf(agent.url, { 'x-api-key': ada.key })).toBe(200);
  });

  it('does not start if the file of users has an unknown member', async () => {
    const file = join(folder(), 'users.json');
    writeFileSync(file, JSON.stringify([{ subject: 'ada', password: 'a', expiry: '2020-01-01' }]));
    const { code, stderr } = await parley(['serve', '--echo', '--basic-users-file', file]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('ada: unknown option "expiry"')]);
  });

  it.each<[string, string, string]>([
    [
      'asks for a key that no code checks',
      'export default { agent: (p) => p, securitySchemes: { key: { httpAuthSecurityScheme: { scheme: "Bearer" } } }, securityRequirements: [{ schemes: { key: {} } }] };',
      'gatewayAuthenticates: true if a gateway',
    ],
    [
      'exports its authenticator beside the agent',
      'export const agent = (p) => p; export const authenticator = {};',
      'has an authenticator outside of the options',
    ],
    [
      'has its authenticator inside of the agent',
      'export const agent = { run: (p) => p, authenticator: {} };',
      'has an authenticator outside of the options',
    ],
    [
      'misspells its authenticator',
      'export default { agent: (p) => p, authenticater: {} };',
      '(did you mean "authenticator"?)',
    ],
  ])('serves no module that %s', async (_, code, problem) => {
    const file = join(folder(), 'agent.mjs');
    writeFileSync(file, code);
    const refused = await parley(['serve', file]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(problem)]);
  });

  it('lists all settings in the help', async () => {
    const { stdout } = await parley(['serve', '--help']);
    for (const flag of [
      'api-keys-file api-key-place basic-users-file tls-client-ca client-cert-proxy client-cert-format auth-require',
      'oidc-issuer jwt-issuer jwks-url jwt-audience jwt-algorithm required-scope tenant-claim auth-allow-host',
      'introspection-issuer introspection-client-id introspection-client-secret introspection-url token-url',
      'auth-plain-http rate-limit rate-limit-address rate-limit-user',
    ].flatMap((flags) => flags.split(' '))) {
      expect(stdout).toContain(`--${flag} `);
    }
  });

  it.each([
    [['--api-key-place', 'header:X-Key'], '--api-key-place needs API keys: set --api-keys-file'],
    [['--api-key-place', 'body:x'], '--api-key-place="body:x" must be a place such as header:'],
    [['--client-cert-proxy', '10.0.0.1'], '--client-cert-proxy and --client-cert-format belong together'],
    [['--client-cert-format', 'haproxy'], '--client-cert-format="haproxy" must be one of envoy, nginx, rfc9440'],
    [['--auth-require', 'both'], '--auth-require="both" must be one of any, all, all-users'],
    [['--auth-require', 'all'], 'needs two kinds of credentials'],
    [['--rate-limit-user', 'many'], '--rate-limit-user="many" must be requests in a time'],
    [['--tls-cert', 'a.pem'], '--tls-cert and --tls-key belong together'],
    [['--tls-client-ca', 'a.pem'], '--tls-client-ca needs --tls-cert and --tls-key'],
    [['--api-keys-file', 'nowhere.json'], 'nowhere.json: the file cannot be read (ENOENT)'],
  ])('%j is refused', async (flags, problem) => {
    const { code, stderr } = await parley(['serve', '--echo', ...flags]);
    expect(code).not.toBe(0);
    expect(stderr).toContain(problem);
  });
});
