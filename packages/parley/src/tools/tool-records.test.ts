import { describe, expect, it } from 'vitest';
import { TOOL_CALL_STATES } from './tool.js';
import { decisionsIn } from './tool-approvals.js';
import { isFinished, nextCall, type RecordedCall, recordedCalls, recordPart, TOOLS_ARTIFACT } from './tool-records.js';

const first = { id: '1.1', tool: 'order', input: 'Dune', run: 1, messageIds: ['m'] };

describe('the states of a call', () => {
  it('go on until a final one, and never from there', () => {
    let reached: readonly RecordedCall[] = TOOL_CALL_STATES.flatMap(
      (state) => nextCall(undefined, { ...first, state }) ?? [],
    );
    expect(reached.map(({ state }) => state)).toEqual(['requested', 'running', 'succeeded', 'failed']);
    for (let step = 0; step < 4; step += 1) {
      reached = reached.flatMap((call) =>
        TOOL_CALL_STATES.flatMap((state) => {
          const next = nextCall(call, { id: '1.1', tool: 'order', state });
          if (isFinished(call)) expect(next).toBeUndefined();
          if (next) expect(next).toMatchObject({ input: 'Dune', run: 1, messageIds: ['m'] });
          return next ?? [];
        }),
      );
    }
    const [running] = [nextCall(undefined, { ...first, state: 'running' })];
    for (const state of ['requested', 'approved', 'refused'] as const) {
      expect(nextCall(running, { id: '1.1', tool: 'order', state })).toBeUndefined();
    }
    expect(nextCall(running, { id: '1.1', tool: 'other', state: 'succeeded' })).toBeUndefined();
    expect(nextCall(undefined, { id: '1.1', tool: 'order', state: 'running' })).toBeUndefined();
  });

  it('are read from the artifact, and parts of another form are left out', () => {
    const parts = [
      recordPart({ ...first, state: 'running' }),
      { data: { toolCall: { id: 4, tool: 'order', state: 'failed' } } },
      { data: { toolCall: { id: '1.1', tool: 'order', state: 'gone' } } },
      { text: 'hello' },
      recordPart({ id: '1.2', tool: 'order', state: 'running', run: 1 }),
      recordPart({ id: '1.1', tool: 'order', state: 'succeeded', output: null }),
      recordPart({ id: '1.1', tool: 'order', state: 'failed' }),
    ];
    const calls = recordedCalls({ artifacts: [{ artifactId: TOOLS_ARTIFACT.artifactId, parts }] });
    expect([...calls.values()].map(({ id, state, messageIds }) => [id, state, messageIds])).toEqual([
      ['1.1', 'succeeded', ['m']],
      ['1.2', 'running', ['m']],
    ]);
    expect(recordedCalls({ artifacts: [{ artifactId: 'other', parts }] }).size).toBe(0);
  });
});

describe('the answer to a question for approval', () => {
  const data = (callId: string, decision: string) => ({ data: { toolApproval: { callId, decision } } });
  const decisions = (...[parts]: [Parameters<typeof decisionsIn>[0]]) =>
    [...decisionsIn(parts, ['1', '2']).values()].map(({ callId, decision }) => `${callId} ${decision}`);

  it('is a yes or a no to all calls, or data for each', () => {
    expect(decisions([{ text: ' YES! ' }])).toEqual(['1 approve', '2 approve']);
    expect(decisions([{ text: 'no' }])).toEqual(['1 refuse', '2 refuse']);
    expect(decisions([{ text: 'yes' }, data('2', 'refuse')])).toEqual(['2 refuse']);
    expect(decisions([data('1', 'refuse'), data('1', 'approve')])).toEqual(['1 refuse']);
    expect(decisions([data('1', 'approve'), data('1', 'refuse')])).toEqual(['1 refuse']);
  });

  it('is no other text and no other data', () => {
    const none = [[], [{ text: 'yes and no' }], [{ text: 'yes' }, { text: 'yes' }], [data('3', 'approve')]];
    for (const parts of [...none, [data('1', 'maybe')], [{ data: { toolApproval: 'yes' } }]]) {
      expect(decisions(parts)).toEqual([]);
    }
  });
});
