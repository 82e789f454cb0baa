import { expect, it } from 'vitest';
import { shadowedMount } from './mount-paths.js';

it.each([
  ['/a2a', ['/'], '/'],
  ['/a2a/jsonrpc', ['/'], '/'],
  ['/a2a/rest/books', ['/'], '/'],
  ['/a2a/authorizations', ['/'], '/'],
  ['/books/authorizations', ['/books'], '/books'],
  ['/a2a', ['/books'], undefined],
  ['/a2a/books', ['/'], undefined],
  ['/books', ['/', '/books', '/books/old'], undefined],
  ['/books/old', ['/', '/books'], undefined],
  ['/', ['/a2a', '/books'], undefined],
])('an agent at %s beside those at %j takes endpoints of %s', (place, others, shadowed) => {
  expect(shadowedMount(place, others)).toBe(shadowed);
});
