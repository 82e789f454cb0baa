import { describe, expect, it } from 'vitest';
import { ANONYMOUS, type Authentication, type Authenticator, type Credentials } from './authenticator.js';
import { allOf, anyOf } from './combinations.js';
import { mayUseSkill, optional, requirementsOf, requireScopes, withRequirements } from './requirements.js';
import type { User } from './user.js';

/** An authenticator for the header of its name: `ada read write` is Ada with two scopes, `wrong` is refused. */
function inHeader(name: string, changes: Partial<Authenticator> = {}): Authenticator {
  return {
    challenges: [`Key name="${name}"`],
    securitySchemes: { [name]: { apiKeySecurityScheme: { location: 'header', name } } },
    authenticate: (credentials) => findUser(name, credentials.header(name)),
    ...changes,
  };
}

const users = new Map<string, Authentication>();

function findUser(name: string, value: string | undefined): Authentication {
  if (value === undefined) return ANONYMOUS;
  if (value === 'wrong') return { kind: 'refused', reason: `wrong ${name}` };
  const [subject, ...scopes] = value.split(' ');
  const user: User = { id: `${name}|${subject}`, schemes: [name], scopes };
  const known = users.get(name + value) ?? { kind: 'user', user, revoked: new AbortController().signal };
  users.set(name + value, known);
  return known;
}

const later = (name: string): Authenticator => {
  const one = inHeader(name);
  return { ...one, authenticate: async (credentials) => one.authenticate(credentials) };
};
const failing = inHeader('broken', { authenticate: () => Promise.reject(new Error('down')) });
const request = (headers: Readonly<Record<string, string>>): Credentials =>
  ({ method: 'POST', query: '', header: (name: string) => headers[name] }) as Credentials;
const schemesOf = (authenticator: Authenticator) =>
  requirementsOf(authenticator).map(({ schemes = {} }) => Object.keys(schemes).join('+'));

describe.each([
  ['at once', inHeader],
  ['later', later],
])('authenticators that answer %s', (_, make) => {
  const any = anyOf(make('a'), make('b'));
  const all = allOf(make('a'), make('b'));
  const several = allOf(make('a'), make('b'), { differentUsers: true });

  it.each([
    [{}, { kind: 'anonymous' }],
    [{ a: 'ada' }, { user: { id: 'a|ada' } }],
    [{ b: 'bob' }, { user: { id: 'b|bob' } }],
    [{ a: 'ada', b: 'bob' }, { user: { id: 'a|ada' } }],
    [{ a: 'wrong', b: 'bob' }, { user: { id: 'b|bob' } }],
    [{ a: 'wrong' }, { kind: 'refused', challenges: ['Key name="a"', 'Key name="b"'] }],
    [
      { a: 'wrong', b: 'wrong' },
      { kind: 'refused', reason: 'wrong a, wrong b' },
    ],
  ])('anyOf takes %j as %j', async (headers, expected) => {
    expect(await any.authenticate(request(headers))).toMatchObject(expected);
  });

  it.each([
    [{}, { kind: 'anonymous' }],
    [{ a: 'ada' }, { kind: 'refused', challenges: ['Key name="b"'] }],
    [{ b: 'bob' }, { kind: 'refused', challenges: ['Key name="a"'] }],
    [{ a: 'ada', b: 'wrong' }, { kind: 'refused' }],
    [{ a: 'wrong', b: 'bob' }, { kind: 'refused' }],
    [{ a: 'ada x', b: 'ada y' }, { user: { id: 'a|ada', schemes: ['a', 'b'], scopes: ['x', 'y'] } }],
    [
      { a: 'ada x', b: 'bob y' },
      { kind: 'refused', reason: 'the credentials name different users' },
    ],
  ])('allOf takes %j as %j', async (headers, expected) => {
    expect(await all.authenticate(request(headers))).toMatchObject(expected);
  });

  it('allOf joins different users only if the options say so', async () => {
    const headers = { a: 'ada x', b: 'bob y' };
    expect(await several.authenticate(request(headers))).toMatchObject({ user: { id: 'a|ada', scopes: ['x', 'y'] } });
    expect(await several.authenticate(request({ b: 'bob' }))).toMatchObject({ kind: 'refused' });
  });
});

it('a member that cannot tell now refuses no user of another one, and lets none in', async () => {
  expect(await anyOf(failing, inHeader('b')).authenticate(request({ b: 'bob' }))).toMatchObject({ kind: 'user' });
  await expect(async () => anyOf(failing, inHeader('b')).authenticate(request({}))).rejects.toThrow('down');
  await expect(async () => anyOf(failing, inHeader('b')).authenticate(request({ b: 'wrong' }))).rejects.toThrow('down');
  await expect(async () => allOf(inHeader('b'), failing).authenticate(request({ b: 'bob' }))).rejects.toThrow('down');
  expect(await allOf(failing, inHeader('b')).authenticate(request({ b: 'wrong' }))).toMatchObject({ kind: 'refused' });
});

it('the card has one requirement for each way in (Spec §4.5)', () => {
  const [a, b, c] = [inHeader('a'), inHeader('b'), inHeader('c')];
  expect(schemesOf(anyOf(a, b))).toEqual(['a', 'b']);
  expect(schemesOf(allOf(a, b))).toEqual(['a+b']);
  expect(schemesOf(anyOf(allOf(a, b), c))).toEqual(['a+b', 'c']);
  expect(schemesOf(allOf(a, anyOf(b, c)))).toEqual(['a+b', 'a+c']);
  expect(schemesOf(optional(anyOf(a, b)))).toEqual(['a', 'b', '']);
  expect(schemesOf(allOf(a, optional(b)))).toEqual(['a+b', 'a']);
  expect(Object.keys(anyOf(allOf(a, b), c).securitySchemes ?? {})).toEqual(['a', 'b', 'c']);
  expect(requirementsOf(allOf(a, requireScopes(b, 'read')))).toEqual([{ schemes: { a: {}, b: { list: ['read'] } } }]);
  expect(requirementsOf(allOf(a, b))).toEqual([{ schemes: { a: {}, b: {} } }]);
});

it('the tokens of all members are published (RFC 9728)', () => {
  const issuerHeader = (issuer: string, ...scopes: string[]) =>
    inHeader(issuer, { protectedResource: { authorizationServers: [issuer], scopes } });
  const any = anyOf(issuerHeader('x', 'read'), inHeader('a'), optional(issuerHeader('y', 'read', 'write')));
  expect(any.protectedResource).toEqual({ authorizationServers: ['x', 'y'], scopes: ['read', 'write'] });
  expect(anyOf(inHeader('a')).protectedResource).toBeUndefined();
});

it('two different schemes of one name are a mistake, the same scheme twice is not', () => {
  const bearer = inHeader('a', { securitySchemes: { a: { httpAuthSecurityScheme: { scheme: 'Bearer' } } } });
  expect(() => anyOf(inHeader('a'), bearer)).toThrow('two schemes have the name a. Set schemeName of one of them');
  expect(() => allOf(inHeader('a'), inHeader('a'))).not.toThrow();
  expect(() => anyOf()).toThrow('needs at least one authenticator');
  expect(() => anyOf([inHeader('a')] as never)).toThrow('each argument must be an authenticator, not a list');
  expect(() => anyOf(Promise.resolve(inHeader('a')) as never)).toThrow('each argument must be an authenticator');
});

it('an optional member may be absent, and may not be wrong', async () => {
  const all = allOf(inHeader('a'), optional(inHeader('b')));
  expect(await all.authenticate(request({ a: 'ada' }))).toMatchObject({ user: { id: 'a|ada', schemes: ['a'] } });
  expect(await all.authenticate(request({ a: 'ada', b: 'wrong' }))).toMatchObject({ kind: 'refused' });
  expect([all.optional, anyOf(inHeader('a'), optional(inHeader('b'))).optional]).toEqual([undefined, true]);
});

it('a joined user has what all credentials allow, and ends with the first of them', async () => {
  const revocation = new AbortController();
  const first: User = { id: 'x|1', name: 'One', schemes: ['a'], tenants: ['s', 't'], expiresAt: 9, permissions: ['p'] };
  const second: User = { id: 'y|1', name: 'Two', schemes: ['b'], tenants: ['t', 'u'], expiresAt: 5 };
  const all = allOf(
    inHeader('a', { authenticate: () => ({ kind: 'user', user: first }) }),
    inHeader('b', { authenticate: () => ({ kind: 'user', user: second, revoked: revocation.signal }) }),
  );
  const joined = (await all.authenticate(request({}))) as Extract<Authentication, { kind: 'user' }>;
  expect(joined.user).toEqual({
    id: 'x|1',
    name: 'One',
    schemes: ['a', 'b'],
    tenants: ['t'],
    expiresAt: 5,
    permissions: ['p'],
  });
  expect(await all.authenticate(request({}))).toBe(joined);
  revocation.abort();
  expect(joined.revoked?.aborted).toBe(true);
});

describe('scopes', () => {
  const asking = requireScopes(inHeader('a'), 'read', 'write');

  it('a user who lacks one is told its name', async () => {
    expect(await asking.authenticate(request({ a: 'ada read' }))).toMatchObject({
      kind: 'refused',
      missingScopes: ['write'],
    });
    expect(await asking.authenticate(request({ a: 'ada write read' }))).toMatchObject({ kind: 'user' });
    expect(await asking.authenticate(request({}))).toEqual({ kind: 'anonymous' });
    expect(await asking.authenticate(request({ a: 'wrong' }))).toMatchObject({ reason: 'wrong a' });
  });

  it('the card says so', () => {
    expect(asking.securityRequirements).toEqual([{ schemes: { a: { list: ['read', 'write'] } } }]);
  });

  it.each<[string, Authenticator]>([
    ['optional()', optional(inHeader('a'))],
    ['the option', { ...inHeader('a'), optional: true }],
  ])('an authenticator that is optional by %s asks its users too', async (_, authenticator) => {
    const asked = requireScopes(authenticator, 'write');
    expect(await asked.authenticate(request({ a: 'ada read' }))).toMatchObject({ missingScopes: ['write'] });
    expect(await asked.authenticate(request({ a: 'ada write' }))).toMatchObject({ kind: 'user' });
    expect(await asked.authenticate(request({}))).toEqual({ kind: 'anonymous' });
    expect([asked.optional, asked.securityRequirements]).toEqual([
      true,
      [{ schemes: { a: { list: ['write'] } } }, { schemes: {} }],
    ]);
  });

  it('a missing scope comes before a wrong credential of another member', async () => {
    const any = anyOf(inHeader('b'), asking);
    expect(await any.authenticate(request({ a: 'ada read', b: 'wrong' }))).toMatchObject({ missingScopes: ['write'] });
  });

  it('an authenticator without schemes asks for them too', async () => {
    const { securitySchemes: _, ...bare } = inHeader('a');
    const asked = requireScopes(bare, 'read');
    const user: User = { id: 'x|1', scopes: ['read'] };
    const requireRead = (user: User) =>
      requireScopes({ ...bare, authenticate: () => ({ kind: 'user', user }) }, 'read');
    expect(await asked.authenticate(request({}))).toEqual({ kind: 'anonymous' });
    expect(await requireRead(user).authenticate(request({}))).toMatchObject({ kind: 'user' });
    expect(await requireRead({ id: 'x|1' }).authenticate(request({}))).toMatchObject({ missingScopes: ['read'] });
  });
});

describe('a requirement', () => {
  const ada: User = { id: 'a|ada', schemes: ['a'], scopes: ['read'] };

  it.each([
    [undefined, [], true],
    [undefined, undefined, true],
    [undefined, [{ schemes: { a: {} } }], false],
    [undefined, [{ schemes: { a: {} } }, {}], true],
    [ada, [{ schemes: { a: {} } }], true],
    [ada, [{ schemes: { a: { list: ['read'] } } }], true],
    [ada, [{ schemes: { a: { list: ['write'] } } }], false],
    [ada, [{ schemes: { a: { list: ['write'] } } }, { schemes: { a: { list: ['read'] } } }], true],
    [ada, [{ schemes: { b: {} } }], false],
    [ada, [{ schemes: { a: {}, b: {} } }], false],
    [{ id: 'custom|1', scopes: ['read'] }, [{ schemes: { b: { list: ['read'] } } }], true],
  ])('%j under %j: %s', (user, securityRequirements, expected) => {
    expect(mayUseSkill(user, { ...(securityRequirements && { securityRequirements }) })).toBe(expected);
  });

  it('that only another scheme can meet is a missing credential, not a missing scope', async () => {
    const strict = withRequirements(anyOf(inHeader('a'), inHeader('b')), [{ schemes: { b: {} } }]);
    expect(await strict.authenticate(request({ a: 'ada' }))).toMatchObject({ kind: 'refused', missingScopes: [] });
    expect(await strict.authenticate(request({ b: 'bob' }))).toMatchObject({ kind: 'user' });
  });
});
