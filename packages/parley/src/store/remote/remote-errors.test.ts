import { expect, it } from 'vitest';
import { OwnerBlockedError } from '../../errors/owner-blocked-error.js';
import { StorageError } from '../../errors/storage-error.js';
import { StorageFullError } from '../../errors/storage-full-error.js';
import { failureFields, failureOf } from './remote-errors.js';

it.each([
  new OwnerBlockedError(),
  new StorageFullError('The storage is full. Try again later.'),
  new StorageError('The disk fails', { told: true, reason: 'disk' }),
])('an error of a storage is the same one in another process: %s', (error) => {
  const arrived = failureOf(JSON.parse(JSON.stringify(failureFields(error))));
  expect(arrived).toBeInstanceOf(error.constructor);
  expect(arrived).toMatchObject({ name: error.name, message: error.message });
});
