import { describe, expect, it } from 'vitest';
import type { TaskState } from '../../model/task-state.js';
import type { Claim } from '../../store/held-turn.js';
import { turnFate } from './turn-fate.js';

const WORKING = 'TASK_STATE_WORKING';

function claim(over: Partial<Claim> = {}, state: TaskState = WORKING): Claim {
  return {
    scope: { agent: 'a', tenant: '', owner: null },
    task: { id: 't', contextId: 'c', status: { state } },
    seq: 1,
    epoch: 1,
    turn: 1,
    attempt: 1,
    handOvers: 0,
    message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] },
    caller: { extensions: [], version: '1.0' },
    began: false,
    ...over,
  };
}

describe('the fate of a claimed turn', () => {
  const fate = (resumable: boolean, each: Claim, maxAttempts = 3) => turnFate(each, { resumable, maxAttempts });

  it('that never began is to run, whatever its agent can', () => {
    expect([fate(false, claim()), fate(true, claim())]).toEqual(['run', 'run']);
  });

  it('that began is over for an agent that cannot resume, with or without a record', () => {
    expect(fate(false, claim({ attempt: 2 }))).toBe('interrupted');
    expect(fate(false, claim({ attempt: 2, began: true }))).toBe('interrupted');
    expect(fate(false, claim({ attempt: 2, handOvers: 1 }))).toBe('interrupted');
  });

  it('runs again for an agent that can resume, the last time alone', () => {
    expect([2, 3, 4].map((attempt) => fate(true, claim({ attempt, began: true })))).toEqual([
      'run',
      'run-alone',
      'exhausted',
    ]);
    expect([1, 2].map((attempt) => fate(true, claim({ attempt }), 1))).toEqual(['run', 'exhausted']);
  });

  it('does not count hand-overs', () => {
    expect(fate(true, claim({ attempt: 9, handOvers: 8 }))).toBe('run');
    expect(fate(true, claim({ attempt: 11, handOvers: 8 }))).toBe('run-alone');
  });

  it('is to wait where its agent had asked, and not where only an earlier turn had', () => {
    expect(fate(false, claim({ attempt: 2, began: true }, 'TASK_STATE_INPUT_REQUIRED'))).toBe('wait');
    expect(fate(false, claim({ attempt: 2 }, 'TASK_STATE_INPUT_REQUIRED'))).toBe('interrupted');
    expect(fate(false, claim({}, 'TASK_STATE_INPUT_REQUIRED'))).toBe('run');
  });

  it('is to be canceled before all else', () => {
    expect(fate(true, claim({ attempt: 9, began: true, cancel: {} }, 'TASK_STATE_INPUT_REQUIRED'))).toBe('cancel');
  });
});
