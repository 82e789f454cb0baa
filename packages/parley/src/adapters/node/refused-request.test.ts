import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { refusalOf } from './refused-request.js';

const incomingOf = (httpVersionMinor: number, headers: Record<string, string>) =>
  ({ httpVersionMajor: 1, httpVersionMinor, headers, rawHeaders: [] }) as unknown as IncomingMessage;

it.each([
  [1, { host: 'a', 'transfer-encoding': 'chunked' }, undefined],
  [1, { host: 'a', 'transfer-encoding': 'gzip' }, 501],
  [0, { 'content-length': '3' }, undefined],
  [0, { 'transfer-encoding': 'chunked' }, 400],
  [0, { host: 'a', 'transfer-encoding': 'Chunked' }, 400],
])('a request of HTTP/1.%i with %j is refused with %s', (minor, headers, status) => {
  expect(refusalOf(incomingOf(minor, headers as Record<string, string>))?.status).toBe(status);
});

it.each([
  [1_000, undefined],
  [1_001, 431],
])('a request with %i header lines, of which Node.js may drop some, is refused with %s', (lines, status) => {
  const rawHeaders = Array.from({ length: 2 * lines }, () => 'a');
  expect(refusalOf({ ...incomingOf(1, { host: 'a' }), rawHeaders } as IncomingMessage)?.status).toBe(status);
});
