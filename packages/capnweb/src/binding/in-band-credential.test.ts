import { expect, it } from 'vitest';
import { type SchemesByName, splitCredential } from './in-band-credential.js';

const schemes: SchemesByName = {
  tls: { mtlsSecurityScheme: {} },
  name: { httpAuthSecurityScheme: { scheme: 'Basic' } },
  login: { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://login.example' } },
  key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } },
  asked: { apiKeySecurityScheme: { location: 'query', name: 'key' } },
};

it.each([
  ['a token', { authorization: 'Bearer t1' }, undefined, { scheme: 'login', value: 't1' }],
  ['a name and a password', { authorization: 'basic YTpi' }, undefined, { scheme: 'name', value: 'YTpi' }],
  ['a key in a header', { 'x-key': 'k1' }, undefined, { scheme: 'key', value: 'k1' }],
  ['a key in the query', {}, { key: 'k2' }, { scheme: 'asked', value: 'k2' }],
  ['nothing', {}, undefined, undefined],
])('%s becomes the credential of its scheme', (_, given, query, credential) => {
  const headers = { traceparent: 'x', ...given };
  expect(splitCredential({ headers, query }, schemes)).toEqual({
    credential,
    identity: {},
    headers: { traceparent: 'x' },
  });
});

it('a credential that the card does not name has the scheme of HTTP', () => {
  expect(splitCredential({ headers: { authorization: 'Bearer t1', a: 'b' } })).toEqual({
    credential: { scheme: 'bearer', value: 't1' },
    identity: {},
    headers: { a: 'b' },
  });
});

it('a second credential stays a header', () => {
  const { key } = schemes;
  expect(splitCredential({ headers: { authorization: 'Bearer t1', 'x-key': 'k1' } }, { ...(key && { key }) })).toEqual({
    credential: { scheme: 'key', value: 'k1' },
    identity: { authorization: 'Bearer t1' },
    headers: {},
  });
});

it('cookies are left out', () => {
  expect(splitCredential({ headers: { cookie: 'a=b' } }).headers).toEqual({});
});
