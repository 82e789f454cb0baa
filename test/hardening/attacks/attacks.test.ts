import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Attack } from './attack.js';
import { BYTES_OF_PEERS } from './bytes-of-peers.js';
import { COMBINED_AUTHENTICATORS } from './combined-authenticators.js';
import { DATA_OF_OWNERS } from './data-of-owners.js';
import { HEADERS_OF_PROXIES } from './headers-of-proxies.js';
import { NAMES_GIVEN_TWICE } from './names-given-twice.js';
import { SCHEMAS_AND_PATTERNS } from './schemas-and-patterns.js';
import { TEXT_FOR_TERMINALS } from './text-for-terminals.js';

const DOORS: Readonly<Record<string, readonly Attack[]>> = {
  'bytes of peers': BYTES_OF_PEERS,
  'headers that proxies set': HEADERS_OF_PROXIES,
  'combined authenticators': COMBINED_AUTHENTICATORS,
  'text that reaches terminals and logs': TEXT_FOR_TERMINALS,
  'schemas and patterns': SCHEMAS_AND_PATTERNS,
  'names given twice': NAMES_GIVEN_TWICE,
  'data of an owner': DATA_OF_OWNERS,
};

const root = new URL('../../../', import.meta.url);
const attacks = Object.values(DOORS).flat();

it.each(Object.entries(DOORS))('each attack through "%s" has its test', (_, rows) => {
  const untested = rows.filter(({ file, test }) => !readFileSync(new URL(file, root), 'utf8').includes(test));
  expect(untested).toEqual([]);
  expect(rows.length).toBeGreaterThan(0);
});

it('no attack stands twice', () => {
  expect(new Set(attacks.map(({ attack }) => attack)).size).toBe(attacks.length);
});
