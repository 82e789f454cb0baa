import { describe, expect, it } from 'vitest';
import { MetricRegistry } from './metric-registry.js';

describe('what instruments measure', () => {
  it('is kept by the values of the attributes, not by their order or the object', async () => {
    const registry = new MetricRegistry();
    const counter = registry.createCounter('calls', { description: 'Calls', unit: '{call}' });
    const same = { a: '1', b: '2' };
    counter.add(1, same);
    counter.add(2, same);
    counter.add(4, { b: '2', a: '1' });
    counter.add(8, { a: '1' });
    counter.add(16);
    expect(await registry.collect()).toEqual([
      {
        name: 'calls',
        description: 'Calls',
        unit: '{call}',
        kind: 'counter',
        points: [
          { attributes: { a: '1', b: '2' }, value: 7 },
          { attributes: { a: '1' }, value: 8 },
          { attributes: {}, value: 16 },
        ],
      },
    ]);
  });

  it('is not changed by what becomes of the attributes later', async () => {
    const registry = new MetricRegistry();
    const counter = registry.createCounter('calls');
    const attributes: Record<string, string> = { a: '1' };
    counter.add(1, attributes);
    attributes.a = '2';
    expect(await registry.collect()).toMatchObject([{ points: [{ attributes: { a: '1' }, value: 1 }] }]);
  });

  it('falls into buckets, a boundary into the one below', async () => {
    const registry = new MetricRegistry();
    const histogram = registry.createHistogram('took', { advice: { explicitBucketBoundaries: [1, 2] } });
    for (const value of [0, 1, 1.5, 2, 2.1, 100]) histogram.record(value, { a: 'x' });
    expect(await registry.collect()).toMatchObject([
      { kind: 'histogram', boundaries: [1, 2], points: [{ count: 6, sum: 106.6, buckets: [2, 2, 2] }] },
    ]);
  });

  it('is looked at when somebody asks, also if that takes a while, until the callback goes', async () => {
    const registry = new MetricRegistry();
    const gauge = registry.createObservableGauge('level');
    let level = 1;
    const look = async (observation: { observe(value: number): void }) => {
      await Promise.resolve();
      observation.observe(level);
    };
    gauge.addCallback(look);
    expect(await registry.collect()).toMatchObject([{ kind: 'gauge', points: [{ value: 1 }] }]);
    level = 2;
    expect(await registry.collect()).toMatchObject([{ points: [{ value: 2 }] }]);
    gauge.removeCallback(look);
    expect(await registry.collect()).toMatchObject([{ points: [] }]);
  });
});
