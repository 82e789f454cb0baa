import { expect, test } from 'vitest';
import { PARTITIONS, partitionOf } from './partition.js';

test('a scope keeps its partition for all time: stored data depend on it', () => {
  expect(partitionOf({ agent: 'test', tenant: '', owner: null })).toBe(252);
  expect(partitionOf({ agent: 'test', tenant: 'acme', owner: 'key ann' })).toBe(114);
});

test('owners spread over all partitions evenly', () => {
  const counts = new Array<number>(PARTITIONS).fill(0);
  for (let user = 0; user < 25_600; user += 1) {
    const partition = partitionOf({ agent: 'test', tenant: '', owner: `user ${user}` });
    counts[partition] = (counts[partition] ?? 0) + 1;
  }
  expect(Math.min(...counts)).toBeGreaterThan(50);
  expect(Math.max(...counts)).toBeLessThan(170);
});
