import { describe, expect, it } from 'vitest';
import { printableUrl, urlSecrets } from './printable-url.js';

it.each([
  ['postgres://user:secret@host:5432/db', 'postgres://***@host:5432/db', ['secret']],
  ['postgres://user:a/secret@host/db', 'postgres://***@host/db', ['a/secret']],
  ['postgres://user:a@secret@host/db', 'postgres://***@host/db', ['a@secret']],
  ['postgres://user:12?secret#x@host/db', 'postgres://***@host/db', ['12?secret#x']],
  ['postgres://user:12?secret=x@host/db', 'postgres://***', ['12?secret=x', 'x@host/db']],
  ['postgres://user:%73ecret@host/db', 'postgres://***@host/db', ['%73ecret', 'secret']],
  ['postgres://secret@host/db', 'postgres://***@host/db', ['secret']],
  ['postgres://host/db?sslmode=require&password=secret', 'postgres://host/db?***', ['secret']],
  ['postgres://u:secret@a:1,b:2/db', 'postgres://***@a:1,b:2/db', ['secret']],
  ['postgresql:///db?host=/run&password=a@secret', 'postgresql://***', ['a@secret']],
  ['host=a password=secret', '***', ['secret']],
  ["host=a password='a secret'", '***', ['a secret']],
  ['Server=a;Password=secret;', '***', ['secret']],
  ['redis://:secret@[::1]:6379/0', 'redis://***@[::1]:6379/0', ['secret']],
  ['redis://:secret', 'redis://***', ['secret']],
  ['redis:secret@host', '***', ['secret']],
  ['user:secret@host', '***', ['secret']],
  ['https://host/path?X-Amz-Signature=secret', 'https://host/path?***', ['secret']],
  ['s3://bucket?secretAccessKey=secret', 's3://bucket?***', ['secret']],
])('%s is shown as %s', (url, shown, secrets) => {
  expect(printableUrl(url)).toBe(shown);
  expect(urlSecrets(url)).toEqual(expect.arrayContaining(secrets));
});

describe('a text without a password is shown as it is', () => {
  it.each([
    '',
    'memory:?tasks=many',
    'sqlite:./data/a@b.db?durability=process',
    'postgres://host:5432/db',
    'redis://a:1,b:2/0',
    'http://localhost:8080/agents/one',
    'localhost:8080',
    './data/parley.db',
    'https://example.com',
  ])('%s', (text) => {
    expect(printableUrl(text)).toBe(text);
    expect(urlSecrets(text)).toEqual([]);
  });
});

it.each(['https://example.com/@name/card', 'https://example.com:8080/@name', 'sqlite:a@b', 'mail a@b'])(
  'an @ that follows no password hides nothing: %s',
  (text) => {
    expect(urlSecrets(text).filter((one) => one.includes('example'))).toEqual([]);
  },
);
