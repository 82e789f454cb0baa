import { expect, it } from 'vitest';
import { backendOf, type StorageBackend } from './storage-backend.js';

const backendWith = (...schemes: string[]) => ({ schemes }) as Partial<StorageBackend> as StorageBackend;
const first = backendWith('one', 'one+tls');
const second = backendWith('two');

it.each([
  ['one://host/name', first],
  ['one+tls://host', first],
  ['two://user:password@host', second],
  ['three://host', undefined],
  ['one:host', undefined],
  ['memory:', undefined],
  ['sqlite:./data/two://file', undefined],
])('the backend of %s', (url, backend) => {
  expect(backendOf(url, [first, second])).toBe(backend);
});
