import { describe, expect, it } from 'vitest';
import { isSecretName, redactor, withoutSecretFields, withoutSecrets } from './redaction.js';

it.each([
  'authorization',
  'Authorization',
  'proxy-authorization',
  'cookie',
  'Set-Cookie',
  'x-api-key',
  'apiKey',
  'api_key',
  'token',
  'accessToken',
  'X-A2A-Notification-Token',
  'client_secret',
  'password',
  'credentials',
  'privateKey',
])('%s is a secret', (name) => {
  expect(isSecretName(name)).toBe(true);
});

it.each([
  'taskId',
  'operation',
  'path',
  'requestId',
  'keyPath',
  'tokenizer',
  'nextPageToken',
  'page_token',
  'cookieless',
  'error',
  'keys',
])('%s is none', (name) => {
  expect(isSecretName(name)).toBe(false);
});

it.each([
  ['Authorization: Bearer abc.def-ghi', 'Authorization: Bearer [redacted]'],
  ['sent basic dXNlcjpwYXNz, refused', 'sent basic [redacted], refused'],
  ['https://user:pass@example.com/x', 'https://[redacted]@example.com/x'],
  ['GET /a?access_token=abc&page=2', 'GET /a?access_token=[redacted]&page=2'],
  ['/a?page=2&api_key=abc', '/a?page=2&api_key=[redacted]'],
  ['https://example.com:8080/a@b', 'https://example.com:8080/a@b'],
  ['nothing of that kind', 'nothing of that kind'],
])('%s', (text, without) => {
  expect(withoutSecrets(text)).toBe(without);
});

it('secrets go at any depth, and all else stays', () => {
  const headers = { authorization: 'Bearer secret-1', accept: '*/*', cookie: ['secret-2'] };
  const config = { id: 'c', token: 'secret-3', authentication: { scheme: 'Bearer', credentials: 'secret-4' } };
  const fields = { port: 1, missing: undefined, none: null, list: [{ headers }], config, big: 1n, at: new Date(0) };
  const copy = withoutSecretFields(fields);
  expect(copy).toEqual({
    ...fields,
    at: '1970-01-01T00:00:00.000Z',
    list: [{ headers: { authorization: '[redacted]', accept: '*/*', cookie: '[redacted]' } }],
    config: { id: 'c', token: '[redacted]', authentication: { scheme: 'Bearer', credentials: '[redacted]' } },
  });
  expect(headers.authorization).toBe('Bearer secret-1');
});

it('errors are shown with what hangs on them, but for secrets', () => {
  const cause = Object.assign(new Error('401 for https://user:secret@host'), {
    request: { token: 'secret', url: '/x' },
  });
  const { error } = withoutSecretFields({ error: new TypeError('outer', { cause }) }) as { error: { cause: object } };
  expect(error).toBeInstanceOf(TypeError);
  expect(error).toMatchObject({
    message: 'outer',
    stack: expect.stringContaining('outer\n    at '),
  });
  expect(error.cause).toMatchObject({
    message: '401 for https://[redacted]@host',
    request: { token: '[redacted]', url: '/x' },
  });
  expect(JSON.stringify(error)).not.toContain('secret');
});

it('what has no end is cut', () => {
  const loop: Record<string, unknown> = {};
  loop.loop = loop;
  expect(withoutSecretFields(loop)).toEqual({ loop: '[circular]' });
  const error = new Error('looped');
  error.cause = error;
  expect(withoutSecretFields({ error })).toMatchObject({ error: { cause: '[circular]' } });
  let deep: object = {};
  for (let depth = 0; depth < 50; depth++) deep = { deep };
  expect(JSON.stringify(withoutSecretFields({ deep }))).toContain('[deep]');
});

describe('what goes over the wire is shown without credentials', () => {
  it.each([
    ['{"id":"c","token":"abc","url":"x"}', '{"id":"c","token":"[redacted]","url":"x"}'],
    [
      '{"authentication":{"scheme":"Bearer", "credentials" : "a\\"b\\\\"}}',
      '{"authentication":{"scheme":"Bearer", "credentials" : "[redacted]"}}',
    ],
    ['{"tokens":["a",{"b":"]"}],"n":1}', '{"tokens":"[redacted]","n":1}'],
    ['{"secret":{"a":{"b":"}"}},"n":1}', '{"secret":"[redacted]","n":1}'],
    ['{"password":12345,"n":1}', '{"password":"[redacted]","n":1}'],
    ['data: {"result":{"client_secret":"cut in the mid', 'data: {"result":{"client_secret":"[redacted]"'],
    [
      '{"nextPageToken":"a","securitySchemes":{"tokenUrl":"b"}}',
      '{"nextPageToken":"a","securitySchemes":{"tokenUrl":"b"}}',
    ],
    ['> GET /rpc?key=abc&page=2&api+key=d&sig=e', '> GET /rpc?key=[redacted]&page=2&api+key=[redacted]&sig=[redacted]'],
    ['grant_type=refresh_token&refresh_token=abc&scope=a', 'grant_type=refresh_token&refresh_token=[redacted]&scope=a'],
    ['Cookie: session_token=abc; theme=dark', 'Cookie: session_token=[redacted]; theme=dark'],
    ['key=value and code=1', 'key=value and code=1'],
    ['< 401 Bearer realm="agent"', '< 401 Bearer realm="agent"'],
  ])('by name: %s', (text, shown) => {
    expect(redactor()(text)).toBe(shown);
  });

  const SECRET = 'p"ä/+ &=(!~)\'s';
  it.each([
    ['as it is', SECRET],
    ['in a path', encodeURIComponent(SECRET)],
    ['in a form', new URLSearchParams({ x: SECRET }).toString().slice(2)],
    ['in JSON', JSON.stringify({ x: SECRET })],
    ['in base64', Buffer.from(SECRET).toString('base64')],
    ['in base64 for urls', Buffer.from(SECRET).toString('base64url')],
    ['behind a user in base64', Buffer.from(`user:${SECRET}`).toString('base64')],
    ['behind another user in base64', Buffer.from(`users:${SECRET}`).toString('base64')],
    ['behind a third user in base64', Buffer.from(`a user:${SECRET}`).toString('base64')],
    ['behind its scheme', 'abcdef'],
  ])('by value, %s', (_, text) => {
    const shown = redactor([SECRET, 'Bearer abcdef'])(`before ${text} after`);
    expect(shown).toContain('[redacted]');
    expect(shown).not.toContain(text);
    expect(shown).toMatch(/^before .*after$/);
  });

  it('by names that the caller adds', () => {
    const shown = redactor([], new Set(['subscription']));
    expect(shown('{"Subscription":"abc"} /a?subscription=abc&X-Key=def&page=2')).toBe(
      '{"Subscription":"[redacted]"} /a?subscription=[redacted]&X-Key=[redacted]&page=2',
    );
  });

  it.each([
    ['quotes', '"'],
    ['members', '"token":'],
    ['open lists', '"tokens":['],
    ['open texts', '"token":"'],
    ['backslashes', '"token":"\\'],
    ['blanks', '"token" '],
    ['pairs', 'a='],
    ['parameters', '?token=a&'],
    ['letters', 'a'],
    ['schemes', 'Bearer '],
    ['users', '://a:b'],
  ])('in a time that grows with the length of the text: %s', (_, piece) => {
    const text = piece.repeat(Math.ceil(1_000_000 / piece.length));
    const began = performance.now();
    redactor(['a secret'])(text);
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});
