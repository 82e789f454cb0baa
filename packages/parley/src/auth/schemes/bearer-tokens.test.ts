import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { BearerTokens } from '../../exports/auth.js';

const tokens = new BearerTokens([
  { token: 'first-token', subject: 'ada', name: 'Ada' },
  { sha256: createHash('sha256').update('second-token').digest('hex').toUpperCase(), subject: 'bob' },
]);
const presentHeader = (header: string | undefined) =>
  tokens.authenticate({ query: '', header: (name) => (name === 'authorization' ? header : undefined) });

it.each([
  ['Bearer first-token', { id: 'bearer|ada', name: 'Ada', schemes: ['bearer'] }],
  ['bearer   first-token ', { id: 'bearer|ada', name: 'Ada', schemes: ['bearer'] }],
  ['BEARER second-token', { id: 'bearer|bob', schemes: ['bearer'] }],
])('%s is known', async (header, user) => {
  expect(await presentHeader(header)).toMatchObject({ kind: 'user', user });
});

it('a request without a token is anonymous', async () => {
  expect(await presentHeader(undefined)).toEqual({ kind: 'anonymous' });
});

it.each([
  '',
  'Bearer',
  'Bearer ',
  'Bearer first-toke',
  'Bearer first-token2',
  'Bearer First-Token',
  'Basic first-token',
  'first-token',
  'Bearer first-token, Bearer second-token',
  `Bearer ${createHash('sha256').update('second-token').digest('hex')}`,
])('%s is refused', async (header) => {
  expect(await presentHeader(header)).toMatchObject({ kind: 'refused' });
});

it('says in the card how to authenticate', () => {
  expect(tokens.securitySchemes).toEqual({ bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } });
  expect(tokens.challenges).toEqual(['Bearer']);
});

it('refuses what can be no token or hash, by its subject', () => {
  const wrong = () =>
    new BearerTokens([
      { sha256: 'abc', subject: 'eve' },
      { token: 'two words', subject: 'mallory' },
    ]);
  expect(wrong).toThrow(/the sha256 of eve must be 64 hex digits; the key of mallory must be/);
  expect(wrong).not.toThrow('two words');
});

it('keeps no token', async () => {
  await presentHeader('Bearer first-token');
  expect(JSON.stringify(tokens)).not.toContain('first-token');
});
