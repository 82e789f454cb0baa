import { expect, it } from 'vitest';
import { EncodingChoice } from './accept-encoding.js';

const choice = new EncodingChoice(['br', 'gzip']);

it.each<[string | undefined, string | undefined]>([
  [undefined, undefined],
  ['', undefined],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['br', 'br'],
  ['gzip, deflate, br', 'br'],
  ['gzip;q=1.0, br;q=0.9', 'gzip'],
  ['gzip; q=0.5 , br ; q=0.5', 'br'],
  ['gzip;q=0, br;q=0', undefined],
  ['gzip;q=0.000', undefined],
  ['*', 'br'],
  ['br;q=0, *', 'gzip'],
  ['br;q=0, *;q=0', undefined],
  ['*;q=0, gzip', 'gzip'],
  ['identity', undefined],
  ['identity;q=1, gzip;q=0.5', undefined],
  ['identity;q=0.5, gzip;q=0.5', 'gzip'],
  ['identity;q=0, gzip', 'gzip'],
  ['identity;q=0', undefined],
  ['deflate, zstd', undefined],
  ['gzip;q=2', undefined],
  ['gzip;level=1', undefined],
  [';;,,=', undefined],
])('%s: %s', (header, expected) => {
  expect(choice.of(header)).toBe(expected);
  expect(choice.of(header)).toBe(expected);
});

it('knows no more headers than there is room for', () => {
  for (let at = 0; at < 1000; at++) expect(choice.of(`gzip, x${at}`)).toBe('gzip');
});
