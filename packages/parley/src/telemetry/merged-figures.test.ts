import { expect, it } from 'vitest';
import { mergedFigures, type ServerFigures } from './merged-figures.js';
import type { MetricFamily } from './metric-family.js';
import { METRICS } from './metric-names.js';

const head = { description: '', unit: '' };
const gauge = (name: string, value: number): MetricFamily => ({
  ...head,
  name,
  kind: 'gauge',
  points: [{ attributes: {}, value }],
});

function figures(families: readonly MetricFamily[], requests: number): ServerFigures {
  const errorsByCode = { http: { 404: requests }, jsonRpc: {}, stream: {} };
  return {
    families,
    uptimeSeconds: requests,
    requests,
    errors: 0,
    errorsByCode,
    cache: { hits: 1, misses: 2, operations: 3 },
  };
}

it('adds counts and parts, and takes the highest age of what all processes see', () => {
  const counter = (operation: string, value: number): MetricFamily => ({
    ...head,
    name: METRICS.requests.name,
    kind: 'counter',
    points: [{ attributes: { operation }, value }],
  });
  const histogram = (count: number): MetricFamily => ({
    ...head,
    name: METRICS.operationDuration.name,
    kind: 'histogram',
    boundaries: [1],
    points: [{ attributes: {}, count, sum: count, buckets: [count, 0] }],
  });
  const all = [1, 2].map((value) =>
    figures(
      [
        counter(value === 1 ? 'sendMessage' : 'getTask', value),
        histogram(value),
        gauge(METRICS.tasksInProgress.name, value),
        gauge(METRICS.messagesWaiting.name, value),
      ],
      value,
    ),
  );
  const merged = mergedFigures(all);
  expect(merged).toMatchObject({
    requests: 3,
    uptimeSeconds: 2,
    errorsByCode: { http: { 404: 3 } },
    cache: { hits: 2 },
  });
  expect(merged.families.map(({ points }) => points)).toEqual([
    [
      { attributes: { operation: 'sendMessage' }, value: 1 },
      { attributes: { operation: 'getTask' }, value: 2 },
    ],
    [{ attributes: {}, count: 3, sum: 3, buckets: [3, 0] }],
    [{ attributes: {}, value: 3 }],
    [{ attributes: {}, value: 2 }],
  ]);
  expect(mergedFigures(all.slice(0, 1))).toBe(all[0]);
});
