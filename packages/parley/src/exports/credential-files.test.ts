import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../telemetry/logger.js';
import { hashPassword } from './auth.js';
import { apiKeysFile, credentialAuthenticator } from './credential-files.js';
import { createA2AServer, readServerConfig } from './node.js';

function fileOf(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'credentials.json');
  writeFileSync(path, text);
  return path;
}

const request = (headers: Readonly<Record<string, string>>) => ({
  method: 'POST',
  query: '',
  header: (name: string) => headers[name],
});

it('the environment, both files and other authenticators are alternatives', async () => {
  const keys = fileOf(JSON.stringify([{ key: 'of-bob', subject: 'bob' }]));
  const passwordHash = await hashPassword('secret', { iterations: 1_000 });
  const users = fileOf(JSON.stringify([{ subject: 'eve', passwordHash }]));
  const { credentials } = readServerConfig({
    A2A_API_KEYS: 'ada=of-ada',
    A2A_API_KEYS_FILE: keys,
    A2A_BASIC_USERS_FILE: users,
  });
  const authenticator = await credentialAuthenticator(credentials);
  const authenticate = async (headers: Readonly<Record<string, string>>) =>
    authenticator?.authenticate(request(headers));
  expect(await authenticate({ 'x-api-key': 'of-ada' })).toMatchObject({ user: { id: 'apikey|ada' } });
  expect(await authenticate({ 'x-api-key': 'of-bob' })).toMatchObject({ user: { id: 'apikey|bob' } });
  expect(await authenticate({ authorization: `Basic ${btoa('eve:secret')}` })).toMatchObject({
    user: { id: 'basic|eve' },
  });
  expect(await authenticate({ 'x-api-key': 'of-eve' })).toMatchObject({ kind: 'refused' });
  expect(Object.keys(authenticator?.securitySchemes ?? {})).toEqual(['apiKey', 'basic']);
  expect(await credentialAuthenticator(readServerConfig({}).credentials)).toBeUndefined();
});

describe('settings of the environment', () => {
  const authenticateWith = async (env: Record<string, string>, headers: Record<string, string>, peer?: string) => {
    const authenticator = await credentialAuthenticator(readServerConfig(env).credentials);
    return authenticator?.authenticate({ ...request(headers), ...(peer !== undefined && { peer }) });
  };
  const keys = { A2A_API_KEYS: 'ada=of-ada' };

  it('place the key', async () => {
    const elsewhere = { ...keys, A2A_API_KEY_PLACE: 'header:X-Agent-Key' };
    expect(await authenticateWith(elsewhere, { 'x-agent-key': 'of-ada' })).toMatchObject({
      user: { id: 'apikey|ada' },
    });
    expect(await authenticateWith(elsewhere, { 'x-api-key': 'of-ada' })).toMatchObject({ kind: 'anonymous' });
    const bearer = { ...keys, A2A_API_KEY_PLACE: 'bearer' };
    expect(await authenticateWith(bearer, { authorization: 'Bearer of-ada' })).toMatchObject({
      user: { id: 'apikey|ada' },
    });
  });

  it('need one credential of each kind, of one or of several users', async () => {
    const proxies = { A2A_CLIENT_CERT_PROXIES: '10.0.0.0/8', A2A_CLIENT_CERT_FORMAT: 'envoy' };
    const certificate = (name: string) => ({
      'x-forwarded-client-cert': `Hash=${'a'.repeat(64)};Subject="CN=${name}"`,
    });
    const key = { 'x-api-key': 'of-ada', 'sec-fetch-site': 'same-origin' };
    const all = { ...keys, ...proxies, A2A_AUTH_REQUIRE: 'all' };
    expect(await authenticateWith(all, key, '10.0.0.1')).toMatchObject({ kind: 'refused' });
    expect(await authenticateWith(all, { ...key, ...certificate('ada') }, '10.0.0.1')).toMatchObject({
      user: { id: 'apikey|ada' },
    });
    expect(await authenticateWith(all, { ...key, ...certificate('ada') }, '192.0.2.1')).toMatchObject({
      kind: 'refused',
    });
    expect(await authenticateWith(all, { ...key, ...certificate('bob') }, '10.0.0.1')).toMatchObject({
      kind: 'refused',
    });
    const users = { ...all, A2A_AUTH_REQUIRE: 'all-users' };
    expect(await authenticateWith(users, { ...key, ...certificate('bob') }, '10.0.0.1')).toMatchObject({
      user: { id: 'apikey|ada' },
    });
    expect(await authenticateWith({ ...keys, ...proxies }, certificate('bob'), '10.0.0.1')).toMatchObject({
      user: { id: 'mtls|bob' },
    });
  });

  it('refuse to need all credentials if there is one kind', async () => {
    await expect(authenticateWith({ ...keys, A2A_AUTH_REQUIRE: 'all' }, {})).rejects.toThrow(
      'needs two kinds of credentials',
    );
  });
});

it('a server with them may listen beyond loopback (Spec §7.4)', async () => {
  const { credentials } = readServerConfig({ A2A_API_KEYS: 'ada=of-ada' });
  const authenticator = await credentialAuthenticator(credentials);
  const server = createA2AServer({
    agent: () => 'hello',
    logger: silentLogger,
    ...(authenticator && { authenticator }),
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  await expect(server.listen(0, '0.0.0.0')).resolves.toBeDefined();
});

describe('a file', () => {
  it.each([
    ['not JSON', 'of-ada', 'the file is no JSON'],
    ['no list', '{}', 'the file must be a list of objects'],
    ['a wrong entry', '[{"subject":"ada"}]', 'the key of ada must be'],
    ['a wrong hash', '[{"subject":"ada","sha256":"of-ada"}]', 'the sha256 of ada must be'],
  ])('with %s is refused at start, without its text', async (_, text, problem) => {
    const createAuthenticator = () => credentialAuthenticator({ apiKeysFile: fileOf(text) });
    await expect(createAuthenticator()).rejects.toThrow(problem);
    await expect(createAuthenticator()).rejects.not.toThrow('of-ada');
  });

  it('that is missing is refused at start', async () => {
    await expect(credentialAuthenticator({ basicUsersFile: '/nowhere/users.json' })).rejects.toThrow(
      '/nowhere/users.json: the file cannot be read (ENOENT)',
    );
  });

  it('is parsed again only after a change', async () => {
    const path = fileOf('[{"key":"a","subject":"ada"}]');
    const read = apiKeysFile(path);
    const first = await read();
    expect(await read()).toBe(first);
    writeFileSync(path, '[{"key":"another","subject":"ada"}]');
    expect(await read()).toEqual([{ key: 'another', subject: 'ada' }]);
  });
});

it.each([
  [{ A2A_API_KEYS: 'of-ada' }, /^Environment: A2A_API_KEYS must be subject=key/],
  [{ A2A_API_KEYS: '=of-ada' }, /A2A_API_KEYS must be/],
  [{ A2A_API_KEYS: 'ada=sha256:abc' }, /A2A_API_KEYS must be/],
  [{ A2A_TLS_CERT: 'a.pem' }, /A2A_TLS_CERT and A2A_TLS_KEY belong together/],
  [{ A2A_TLS_CLIENT_CA: 'ca.pem' }, /A2A_TLS_CLIENT_CA needs A2A_TLS_CERT/],
])('%j is refused', (env, problem) => {
  expect(() => readServerConfig(env)).toThrow(problem);
  expect(() => readServerConfig(env)).not.toThrow('of-ada');
});
