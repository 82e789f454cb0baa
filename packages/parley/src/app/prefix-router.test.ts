import { expect, it } from 'vitest';
import { prefixRouter } from './prefix-router.js';

const paths = ['/', '/spec', '/spec03', '/a', '/a/b'];
const route = prefixRouter(paths.map((path) => ({ path })));

it.each([
  ['/spec', '/spec'],
  ['/spec/', '/spec'],
  ['/spec/tasks/1', '/spec'],
  ['/spec03', '/spec03'],
  ['/spec03/tasks', '/spec03'],
  ['/spec0', '/'],
  ['/spec:x', '/'],
  ['/a/b', '/a/b'],
  ['/a/b/c', '/a/b'],
  ['/a/bc', '/a'],
  ['/', '/'],
  ['/other', '/'],
])('%s belongs to %s', (path, expected) => {
  expect(route(path)?.path).toBe(expected);
});

it('nothing belongs to nobody where there is no root', () => {
  expect(prefixRouter([{ path: '/a' }])('/b')).toBeUndefined();
});
