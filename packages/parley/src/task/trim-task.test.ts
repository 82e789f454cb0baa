import { describe, expect, it } from 'vitest';
import type { Task } from '../model/task.js';
import { statusTime } from './status-time.js';
import { trimTask } from './trim-task.js';

const history = ['1', '2', '3'].map((messageId) => ({
  messageId,
  role: 'ROLE_USER' as const,
  parts: [{ text: messageId }],
}));
const task: Task = {
  id: 't',
  contextId: 'c',
  status: { state: 'TASK_STATE_COMPLETED' },
  artifacts: [{ artifactId: 'a', parts: [{ text: 'x' }] }],
  history,
  metadata: { a: 1 },
};

describe('historyLength', () => {
  it.each([
    ['absent: everything', undefined, history],
    ['0: no member at all', 0, undefined],
    ['N: the last N in their order', 2, history.slice(1)],
    ['more than there are: all of them', 4, history],
  ])('%s (Spec §3.2.4)', (_, historyLength, kept) => {
    const { history: shown, ...rest } = trimTask(task, { historyLength });
    expect(shown).toEqual(kept);
    expect(Object.hasOwn(trimTask(task, { historyLength }), 'history')).toBe(kept !== undefined);
    const { history: _all, ...others } = task;
    expect(rest).toEqual(others);
  });

  it('0 leaves even an empty history out', () => {
    expect(trimTask({ ...task, history: [] }, { historyLength: 0 })).not.toHaveProperty('history');
  });
});

it('leaves the artifacts out as a member (Spec §3.1.4)', () => {
  expect(trimTask(task, { includeArtifacts: false })).not.toHaveProperty('artifacts');
  expect(trimTask(task, { includeArtifacts: true })).toBe(task);
});

it('gives the task itself when nothing has to go', () => {
  expect(trimTask(task, {})).toBe(task);
  expect(trimTask(task, { historyLength: 3 })).toBe(task);
});

it('reads status times as instants; one that is absent or unreadable comes last', () => {
  const at = (timestamp: string) => statusTime({ state: 'TASK_STATE_WORKING', timestamp });
  expect(at('2026-01-01T00:00:00.5Z')).toBe(at('2026-01-01T01:00:00.500+01:00'));
  expect(at('yesterday')).toBe(0);
  expect(statusTime({ state: 'TASK_STATE_WORKING' })).toBe(0);
});
