import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ManualClock } from '../../../test/manual-clock.js';
import type { Authentication, Credentials } from '../authenticator.js';
import { type BasicUser, BasicUsers, type BasicUsersSetup, newPasswordHash } from './basic-users.js';

const random = (length: number) => crypto.getRandomValues(new Uint8Array(length));
const cheap = (password: string) => newPasswordHash(password, { salt: random(16), iterations: 1_000 });
const base64 = (text: string) => Buffer.from(text).toString('base64');
const basic = (text: string) => `Basic ${base64(text)}`;

async function usersOf(setup: Partial<BasicUsersSetup> = {}) {
  const users: BasicUser[] = [
    { subject: 'ada', passwordHash: await cheap('pass:word'), name: 'Ada', scopes: ['read'] },
    { subject: 'jürgen', passwordHash: await cheap('grüße🙂') },
  ];
  const clock = new ManualClock();
  const made = new BasicUsers({ users, clock, random, ...setup });
  const present = async (authorization?: string, clientGroup?: string): Promise<Authentication> =>
    made.authenticate({
      query: '',
      clientGroup,
      header: (name) => (name === 'authorization' ? authorization : undefined),
    } satisfies Credentials);
  return { users: made, clock, present };
}

it.each([
  [basic('ada:pass:word'), 'basic|ada'],
  [`bASIC   ${base64('ada:pass:word')} `, 'basic|ada'],
  [basic('jürgen:grüße🙂'), 'basic|jürgen'],
  [basic('jürgen:grüße🙂'.normalize('NFD')), 'basic|jürgen'],
])('%s is known (RFC 7617 §2.1)', async (header, id) => {
  const { present } = await usersOf();
  expect(await present(header)).toMatchObject({ kind: 'user', user: { id, schemes: ['basic'] } });
});

it('a wrong password costs as much as an unknown name, also if the hashes of names differ in cost', async () => {
  const { present } = await usersOf({
    users: [
      { subject: 'ada', passwordHash: await cheap('right') },
      { subject: 'bob', passwordHash: await newPasswordHash('right', { salt: random(16), iterations: 5_000 }) },
    ],
  });
  const derive = vi.spyOn(crypto.subtle, 'deriveBits');
  onTestFinished(() => derive.mockRestore());
  await present(basic('ada:right'));
  for (const name of ['ada', 'bob', 'nobody']) {
    derive.mockClear();
    expect(await present(basic(`${name}:wrong`))).toMatchObject({ kind: 'refused' });
    const costs = derive.mock.calls.map(([algorithm]) => (algorithm as unknown as { iterations: number }).iterations);
    expect([name, costs.reduce((sum, cost) => sum + cost, 0)]).toEqual([name, 5_000]);
  }
});

it('a request without the header is anonymous', async () => {
  expect(await (await usersOf()).present()).toEqual({ kind: 'anonymous' });
});

it.each([
  ['a wrong password', basic('ada:password')],
  ['an empty password', basic('ada:')],
  ['an unknown name', basic('eve:pass:word')],
  ['an empty name', basic(':pass:word')],
  ['another case', basic('Ada:pass:word')],
  ['a name of every object', basic('__proto__:pass:word')],
  ['no colon', basic('ada')],
  ['nothing', 'Basic'],
  ['an empty header', ''],
  ['another scheme', 'Bearer YWRhOnBhc3M6d29yZA=='],
  ['another alphabet', 'Basic YWRh-_=='],
  ['base64 without padding', 'Basic YWRhOnBhc3M6d29yZA'],
  ['bytes that are no UTF-8', `Basic ${Buffer.from([97, 0xff, 58, 97]).toString('base64')}`],
  ['Latin-1 in place of UTF-8', `Basic ${Buffer.from('jürgen:grüße', 'latin1').toString('base64')}`],
  ['a NUL byte', basic('ada\0:pass:word')],
  ['a NUL byte at the end', basic('ada:pass:word\0')],
  ['a byte order mark', basic('\ufeffada:pass:word')],
  ['a megabyte', basic(`ada:${'p'.repeat(1_000_000)}`)],
  ['two credentials', `${basic('ada:pass:word')}, ${basic('ada:pass:word')}`],
])('%s is refused', async (_, header) => {
  expect(await (await usersOf()).present(header)).toMatchObject({ kind: 'refused' });
});

it('says in the card and in the challenge how to authenticate', async () => {
  const { users } = await usersOf({ realm: 'desk' });
  expect(users.securitySchemes).toEqual({ basic: { httpAuthSecurityScheme: { scheme: 'Basic' } } });
  expect(users.challenges).toEqual(['Basic realm="desk", charset="UTF-8"']);
});

it.each([
  [{ subject: 'a:b', password: 'p' }, 'must not have a colon'],
  [{ subject: 'ada', password: '' }, 'the password of ada must be a text'],
  [{ subject: 'ada', passwordHash: 'md5' }, 'the passwordHash of ada must be a text of hashPassword'],
  [{ subject: 'ada', passwordHash: '$pbkdf2-sha256$i=0$c2FsdHNhbHQ$x' }, 'the passwordHash of ada'],
] as readonly [BasicUser, string][])('%j is no user', async (user, problem) => {
  const { users } = await usersOf();
  await expect(users.replace([user])).rejects.toThrow(problem);
});

it('an empty password has no hash: everybody knows it', async () => {
  await expect(cheap('')).rejects.toThrow('the password must not be empty');
});

it('two users of one name are a mistake', async () => {
  const { users } = await usersOf();
  const passwordHash = await cheap('p');
  const twice = ['é', 'e\u0301'].map((subject) => ({ subject, passwordHash }));
  await expect(users.replace(twice)).rejects.toThrow('comes twice');
});

describe('a verified password', () => {
  it('is answered at once, for a while', async () => {
    const { users, clock, present } = await usersOf({ verifiedMs: 1_000 });
    const credentials = { query: '', header: () => basic('ada:pass:word') };
    await present(basic('ada:pass:word'));
    expect(users.authenticate(credentials)).toMatchObject({ kind: 'user' });
    await clock.advance(1_000);
    expect(users.authenticate(credentials)).toBeInstanceOf(Promise);
  });

  it('is forgotten with its user, whose streams end', async () => {
    const { users, present } = await usersOf();
    const ada = await present(basic('ada:pass:word'));
    const jürgen = await present(basic('jürgen:grüße🙂'));
    await users.replace([{ subject: 'ada', passwordHash: await cheap('other') }]);
    expect([ada, jürgen].map((one) => one.kind === 'user' && one.revoked?.aborted)).toEqual([true, true]);
    expect(await present(basic('ada:pass:word'))).toMatchObject({ kind: 'refused' });
    expect(await present(basic('ada:other'))).toMatchObject({ kind: 'user' });
  });

  it('ends with its user', async () => {
    const passwordHash = await cheap('p');
    const { clock, present } = await usersOf({
      users: [{ subject: 'ada', passwordHash, expiresAt: '2026-01-01T00:00:01Z' }],
    });
    expect(await present(basic('ada:p'))).toMatchObject({ kind: 'user' });
    await clock.advance(1_000);
    expect(await present(basic('ada:p'))).toEqual({ kind: 'refused', reason: 'expired' });
  });
});

it('hashes of many wrong passwords are bounded, and known users pass meanwhile', async () => {
  const { users, present } = await usersOf();
  await present(basic('ada:pass:word'));
  const attempts = Array.from({ length: 100 }, (_, at) => present(basic(`ada:${at}`)));
  const known = users.authenticate({ query: '', header: () => basic('ada:pass:word') });
  expect(known).toMatchObject({ kind: 'user' });
  const settled = await Promise.allSettled(attempts);
  const rejected = settled.filter((one) => one.status === 'rejected');
  expect(rejected.length).toBeGreaterThan(20);
  expect(rejected[0]?.reason).toMatchObject({ code: 'RESOURCE_EXHAUSTED', details: { retryAfterMs: 2_000 } });
  expect(settled.filter((one) => one.status === 'fulfilled').map((one) => one.value.kind)).not.toContain('user');
  expect(await present(basic('jürgen:grüße🙂'))).toMatchObject({ kind: 'user' });
});

it('wrong passwords from one address do not refuse a right one from another address', async () => {
  const { present } = await usersOf();
  const order: string[] = [];
  const wrong = Array.from({ length: 100 }, (_, at) =>
    present(basic(`ada:${at}`), '192.0.2.1').then(
      () => order.push('wrong'),
      () => undefined,
    ),
  );
  const right = await present(basic('ada:pass:word'), '192.0.2.2');
  expect(right).toMatchObject({ kind: 'user' });
  expect(order.length).toBeLessThan(10);
  await Promise.all(wrong);
});

it('requests with the same password share one hash', async () => {
  const { present } = await usersOf();
  const found = await Promise.all(Array.from({ length: 500 }, () => present(basic('ada:pass:word'))));
  expect(new Set(found.map(({ kind }) => kind))).toEqual(new Set(['user']));
});

it('a plain password is hashed', async () => {
  const { present } = await usersOf({ users: [{ subject: 'ada', password: 'plain' }] });
  expect(await present(basic('ada:plain'))).toMatchObject({ kind: 'user' });
});
