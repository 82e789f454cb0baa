import { createHash } from 'node:crypto';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ManualClock } from '../../../test/manual-clock.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Credentials } from '../authenticator.js';
import { ApiKeys as ApiKeysScheme, type ApiKeysSetup } from './api-keys.js';

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

function keysOf(setup: Partial<ApiKeysSetup> = {}) {
  const clock = new ManualClock();
  const keys = [
    { key: 'key-of-ada', subject: 'ada', name: 'Ada', scopes: ['read'] },
    { sha256: hashOf('key-of-bob').toUpperCase(), subject: 'bob' },
  ];
  return { clock, keys: new ApiKeysScheme({ keys, clock, ...setup }) };
}

function request(headers: Readonly<Record<string, string>> = {}, query = '', method = 'POST'): Credentials {
  return { method, query, header: (name) => headers[name] };
}

describe('on a connection that sends several keys', () => {
  const connection = {};
  const on = (key: string) => ({ ...request({ 'x-api-key': key }), connection });

  it('each request has the user of its own key', () => {
    const { keys } = keysOf();
    const found = ['key-of-ada', 'key-of-ada', 'key-of-bob', 'key-of-adb', 'key-of-ad', 'key-of-ada'].map((key) =>
      keys.authenticate(on(key)),
    );
    expect(found.map((one) => ('user' in one ? one.user.id : one))).toEqual([
      'apikey|ada',
      'apikey|ada',
      'apikey|bob',
      expect.objectContaining({ kind: 'refused' }),
      expect.objectContaining({ kind: 'refused' }),
      'apikey|ada',
    ]);
  });

  it('a key that was removed or has expired is refused', async () => {
    const clock = new ManualClock();
    const expiresAt = clock.now() + 60_000;
    const { keys } = keysOf({ clock, keys: [{ key: 'key-of-ada', subject: 'ada', expiresAt }] });
    expect(keys.authenticate(on('key-of-ada'))).toMatchObject({ kind: 'user' });
    await clock.advance(60_000);
    expect(keys.authenticate(on('key-of-ada'))).toMatchObject({ kind: 'refused' });
    await keys.replace([{ key: 'key-of-bob', subject: 'bob' }]);
    expect(keys.authenticate(on('key-of-ada'))).toMatchObject({ kind: 'refused' });
    expect(keys.authenticate(on('key-of-bob'))).toMatchObject({ kind: 'user' });
  });
});

describe('in a header', () => {
  const { keys } = keysOf();

  it('a key is its user, at once', () => {
    const user = { id: 'apikey|ada', name: 'Ada', scopes: ['read'], schemes: ['apiKey'] };
    expect(keys.authenticate(request({ 'x-api-key': 'key-of-ada' }))).toMatchObject({ kind: 'user', user });
    expect(keys.authenticate(request({ 'x-api-key': ' key-of-bob ' }))).toMatchObject({ user: { id: 'apikey|bob' } });
  });

  it('a request without the header is anonymous', () => {
    expect(keys.authenticate(request({ authorization: 'Bearer key-of-ada' }))).toEqual({ kind: 'anonymous' });
  });

  it.each([
    ['an empty one', ''],
    ['another case', 'KEY-OF-ADA'],
    ['a longer one', 'key-of-ada1'],
    ['a shorter one', 'key-of-ad'],
    ['two joined lines', 'key-of-ada, key-of-ada'],
    ['a hash', hashOf('key-of-bob')],
    ['a NUL byte', 'key-of-ada\u0000'],
    ['other letters', 'kéy-of-ada'],
    ['half of a surrogate pair', 'key-of-ada\ud800'],
    ['a megabyte', 'k'.repeat(1_000_000)],
    ['a name of every object', '__proto__'],
  ])('%s is refused', (_, value) => {
    expect(keys.authenticate(request({ 'x-api-key': value }))).toMatchObject({ kind: 'refused' });
  });

  it('the card and the challenge name it', () => {
    expect(keys.securitySchemes).toEqual({
      apiKey: { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } },
    });
    expect(keys.challenges).toEqual(['ApiKey in="header", name="X-API-Key"']);
  });
});

describe('in the query', () => {
  const { keys } = keysOf({ place: { location: 'query', name: 'api key' } });
  const inQuery = (query: string) => keys.authenticate(request({}, query));

  it.each([
    'api+key=key-of-ada',
    'a=b&api%20key=key%2Dof%2Dada&c',
    '%61pi+key=key-of-ada',
    'bad=%ff&%zz=1&api+key=key-of-ada',
  ])('%s is the key', (query) => {
    expect(inQuery(query)).toMatchObject({ kind: 'user', user: { id: 'apikey|ada' } });
  });

  it.each(['', 'a=b', 'Api+Key=key-of-ada', 'apikey=key-of-ada'])('%j has none', (query) => {
    expect(inQuery(query)).toEqual({ kind: 'anonymous' });
  });

  it.each([
    'api+key',
    'api+key=',
    'api+key=%ff',
    'api+key=%',
    'api+key=key-of-ada&api+key=key-of-ada',
    'api+key=key-of-ada%00',
    `api+key=key-of-ada&${'a&'.repeat(500_000)}`,
  ])('%.40s is refused', (query) => {
    expect(inQuery(query)).toMatchObject({ kind: 'refused' });
  });
});

describe('in a cookie', () => {
  const { keys } = keysOf({
    place: { location: 'cookie', name: 'session' },
    trustedOrigins: ['https://app.example'],
  });
  const own = { 'sec-fetch-site': 'same-origin' };
  const withCookie = (cookie: string, headers: Readonly<Record<string, string>> = own, method = 'POST') =>
    keys.authenticate(request({ ...headers, cookie }, '', method));

  it.each(['session=key-of-ada', 'a=b; session=key-of-ada ;c', 'a="x=y";session="key-of-ada"'])(
    '%s is the key',
    (cookie) => {
      expect(withCookie(cookie)).toMatchObject({ kind: 'user', user: { id: 'apikey|ada' } });
    },
  );

  it.each(['', 'session', 'Session=key-of-ada', 'xsession=key-of-ada', 'a=session=key-of-ada'])(
    '%j has none',
    (cookie) => {
      expect(withCookie(cookie)).toEqual({ kind: 'anonymous' });
    },
  );

  it.each([
    'session=',
    'session=""',
    'session="key-of-ada',
    'session=key-of-ada, b=c',
    'session=key-of-ada; session=key-of-ada',
    'session=planted; session=key-of-ada',
    `${'a=b;'.repeat(250_000)}session=wrong`,
  ])('%.50s is refused', (cookie) => {
    expect(withCookie(cookie)).toMatchObject({ kind: 'refused' });
  });

  it.each([
    ['a page of another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['a page of a sibling domain', { origin: 'https://evil.app.example', 'sec-fetch-site': 'same-site' }],
    ['a sandboxed page', { origin: 'null' }],
    ['an unknown sender', {}],
  ])('%s sends it in vain, unless it only reads', (_, headers) => {
    expect(withCookie('session=key-of-ada', headers)).toMatchObject({ kind: 'refused' });
    expect(withCookie('session=key-of-ada', headers, 'DELETE')).toMatchObject({ kind: 'refused' });
    expect(withCookie('session=key-of-ada', headers, 'GET')).toMatchObject({ kind: 'user' });
  });

  it.each([
    ['a trusted page', { origin: 'https://app.example', 'sec-fetch-site': 'cross-site' }],
    ['the user', { 'sec-fetch-site': 'none' }],
  ])('%s sends it', (_, headers) => {
    expect(withCookie('session=key-of-ada', headers)).toMatchObject({ kind: 'user' });
  });
});

describe('as Bearer', () => {
  const { keys } = keysOf({ place: 'bearer', schemeName: 'key' });

  it('a key is its user', () => {
    const user = { id: 'apikey|ada', schemes: ['key'] };
    expect(keys.authenticate(request({ authorization: 'bearer key-of-ada' }))).toMatchObject({ user });
  });

  it('a key counts from pages of other sites too, which must know it', () => {
    const found = keys.authenticate(request({ authorization: 'Bearer key-of-ada' }));
    expect(found).toMatchObject({ kind: 'user', pageAllowed: true });
  });

  it('a wrong key gets the error of RFC 6750 §3.1, another scheme does not', () => {
    const invalid = { kind: 'refused', challenges: ['Bearer error="invalid_token"'] };
    expect(keys.authenticate(request({ authorization: 'Bearer wrong' }))).toMatchObject(invalid);
    expect(keys.authenticate(request({ authorization: 'Basic a2V5' }))).toEqual({
      kind: 'refused',
      reason: 'another scheme',
    });
    expect(keys.challenges).toEqual(['Bearer']);
  });
});

it('a key ends at its time', async () => {
  const { clock, keys } = keysOf({
    keys: [
      { key: 'k', subject: 'ada', expiresAt: '2026-01-01T00:00:05Z' },
      { key: 'old', subject: 'ada', expiresAt: 1 },
    ],
  });
  expect(keys.authenticate(request({ 'x-api-key': 'old' }))).toEqual({ kind: 'refused', reason: 'expired' });
  expect(keys.authenticate(request({ 'x-api-key': 'k' }))).toMatchObject({ kind: 'user' });
  await clock.advance(5_000);
  expect(keys.authenticate(request({ 'x-api-key': 'k' }))).toEqual({ kind: 'refused', reason: 'expired' });
});

it.each([
  [{ key: 'two words', subject: 'eve' }, 'the key of eve must be visible characters'],
  [{ key: '', subject: 'eve' }, 'the key of eve must be'],
  [{ sha256: 'abc', subject: 'eve' }, 'the sha256 of eve must be 64 hex digits'],
  [{ key: 'k', subject: '' }, 'the subject must be a text'],
  [{ key: 'k', subject: 'eve', expiresAt: 'soon' }, 'expiresAt of eve must be a time'],
  [{ key: 'k', subject: 'eve', scopes: 'read' as unknown as string[] }, 'scopes of eve must be a list of texts'],
])('%j is no key', (entry, problem) => {
  expect(() => keysOf({ keys: [entry] })).toThrow(problem);
});

it.each([
  [{ location: 'header', name: 'Authorization' }, 'has a meaning of its own'],
  [{ location: 'header', name: 'X Key' }, 'must not have blanks'],
  [{ location: 'body' as 'query', name: 'key' }, 'must be a header, query or cookie'],
] as const)('%j is no place for a key', (place, problem) => {
  expect(() => keysOf({ place })).toThrow(problem);
});

describe('replaced keys', () => {
  const revokedOf = (keys: ApiKeysScheme, key: string) => {
    const found = keys.authenticate(request({ 'x-api-key': key }));
    if (found instanceof Promise || found.kind !== 'user' || found.revoked === undefined) throw new Error('no user');
    return found.revoked;
  };

  it('a removed or changed key is revoked, one that stays is not', async () => {
    const { keys } = keysOf({
      keys: [
        { key: 'stays', subject: 'ada' },
        { key: 'goes', subject: 'bob' },
        { key: 'changes', subject: 'eve', scopes: ['read', 'write'] },
      ],
    });
    const signals = ['stays', 'goes', 'changes'].map((key) => revokedOf(keys, key));
    await keys.replace([
      { key: 'changes', subject: 'eve', scopes: ['read'] },
      { key: 'stays', subject: 'ada' },
      { key: 'comes', subject: 'dan' },
    ]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true, true]);
    expect(keys.authenticate(request({ 'x-api-key': 'goes' }))).toMatchObject({ kind: 'refused' });
    expect(keys.authenticate(request({ 'x-api-key': 'comes' }))).toMatchObject({ user: { id: 'apikey|dan' } });
    expect(revokedOf(keys, 'changes').aborted).toBe(false);
  });

  it('a key that is listed twice is revoked with both', async () => {
    const twice = [
      { key: 'twice', subject: 'ada' },
      { key: 'twice', subject: 'ada' },
    ];
    const { keys } = keysOf({ keys: twice });
    const before = revokedOf(keys, 'twice');
    await keys.replace(twice);
    const after = revokedOf(keys, 'twice');
    await keys.replace([]);
    expect([before.aborted, after.aborted]).toEqual([true, true]);
  });

  it('one key for two owners is refused, and changes nothing', async () => {
    const two = [
      { key: 'key-of-ada', subject: 'ada' },
      { sha256: hashOf('key-of-ada'), subject: 'eve' },
    ];
    expect(() => keysOf({ keys: two })).toThrow('ada and eve have the same key');
    const { keys } = keysOf();
    await expect(keys.replace(two)).rejects.toThrow('ada and eve have the same key');
    expect(keys.authenticate(request({ 'x-api-key': 'key-of-ada' }))).toMatchObject({ user: { id: 'apikey|ada' } });
  });

  it('invalid keys change nothing', async () => {
    const { keys } = keysOf();
    await expect(keys.replace([{ key: '', subject: 'eve' }])).rejects.toThrow('the key of eve');
    expect(revokedOf(keys, 'key-of-ada').aborted).toBe(false);
  });
});

describe('a source of keys', () => {
  it('is read again, and its failures leave the last keys in force', async () => {
    const errors: unknown[] = [];
    const logger: Logger = { debug() {}, info() {}, warn() {}, error: (...line) => void errors.push(line) };
    let current = async () => [{ key: 'first', subject: 'ada' }];
    const { clock, keys } = keysOf({ keys: () => current(), reloadMs: 1_000, logger });
    expect(await keys.authenticate(request({ 'x-api-key': 'first' }))).toMatchObject({ kind: 'user' });

    current = () => Promise.reject(new Error('cannot be read'));
    await clock.advance(1_000);
    await vi.waitFor(() => expect(errors).toHaveLength(1), 15_000);
    expect(keys.authenticate(request({ 'x-api-key': 'first' }))).toMatchObject({ kind: 'user' });

    current = async () => [{ key: 'second', subject: 'ada' }];
    await clock.advance(1_000);
    await vi.waitFor(() => {
      expect(keys.authenticate(request({ 'x-api-key': 'first' }))).toMatchObject({ kind: 'refused' });
    }, 15_000);
    expect(keys.authenticate(request({ 'x-api-key': 'second' }))).toMatchObject({ kind: 'user' });
  });

  it('that was never read lets no key in, and anonymous requests pass on', async () => {
    const { clock, keys } = keysOf({ keys: () => Promise.reject(new Error('down')), reloadMs: 1_000 });
    expect(keys.authenticate(request())).toEqual({ kind: 'anonymous' });
    await expect(keys.authenticate(request({ 'x-api-key': 'key-of-ada' }))).rejects.toThrow('down');
    await clock.advance(1_000);
    await expect(keys.authenticate(request({ 'x-api-key': 'key-of-ada' }))).rejects.toThrow('down');
  });
});

it('a host without a synchronous hash knows the same keys', async () => {
  const modules = vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined);
  vi.resetModules();
  onTestFinished(() => void modules.mockRestore());
  const elsewhere = await import('./api-keys.js');
  const keys = new elsewhere.ApiKeys({ keys: [{ key: 'k', subject: 'ada' }], clock: new ManualClock() });
  const found = keys.authenticate(request({ 'x-api-key': 'k' }));
  expect(found).toBeInstanceOf(Promise);
  expect(await found).toMatchObject({ kind: 'user', user: { id: 'apikey|ada' } });
});

it('keeps no key', () => {
  const { keys } = keysOf();
  expect(JSON.stringify(keys)).not.toContain('key-of-ada');
});
