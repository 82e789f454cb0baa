import { describe, expect, it } from 'vitest';
import { type CpuProfile, timesOfParts } from '../../benchmarks/src/report/profile-table.js';

const FRAMES = [
  ['(idle)', ''],
  ['(garbage collector)', ''],
  ['writeLatin1String', ''],
  ['emit', 'node:events'],
  ['step', 'file:///a/packages/parley/dist/server/execution/turn-state.js'],
  ['accept', 'file:///a/packages/parley/dist/store/memory/memory-storage.js'],
  ['jsonRpc', 'file:///a/packages/parley/dist/bindings/json-rpc/answer.js'],
  ['handle', 'file:///a/packages/parley/dist/adapters/node/adapter.js'],
  ['later', 'file:///a/packages/parley/dist/runtime/clock.js'],
  ['execute', 'file:///a/benchmarks/dist/subjects/parley-agents.js'],
] as const;

/** A thread with one sample per millisecond. */
function thread(startTime: number, names: readonly (typeof FRAMES)[number][0][]): CpuProfile {
  return {
    startTime,
    nodes: FRAMES.map(([functionName, url], id) => ({ id, callFrame: { functionName, url } })),
    samples: names.map((name) => FRAMES.findIndex(([each]) => each === name)),
    timeDeltas: names.map(() => 1_000),
  };
}

describe('the parts of a profile', () => {
  it('are told by the rooms of functions, and waiting counts for none', () => {
    const all = thread(0, FRAMES.map(([name]) => name).concat('(idle)', '(idle)'));
    expect(Object.fromEntries(timesOfParts([all], 10))).toEqual({
      garbage: 1_000,
      node: 2_000,
      engine: 1_000,
      storage: 1_000,
      bindings: 1_000,
      http: 1_000,
      rest: 1_000,
      agent: 1_000,
    });
  });

  it('are those of the last seconds of work, in all threads', () => {
    const main = thread(0, ['step', 'step', 'emit', 'emit', '(idle)', '(idle)']);
    const writer = thread(1_000, ['accept', 'accept', '(idle)', 'accept']);
    // The last sample with work is 5 ms after the beginning.
    expect(Object.fromEntries(timesOfParts([main, writer], 0.002))).toEqual({ node: 2_000, storage: 2_000 });
  });
});
