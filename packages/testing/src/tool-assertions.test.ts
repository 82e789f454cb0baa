import { defineTool, type ToolCallState, ToolError, type ToolEvent, ToolRegistry } from 'parley-a2a/tools';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { assertToolLifecycle } from './index.js';

const pay = defineTool({
  name: 'pay',
  input: z.object({ amount: z.number() }),
  needsApproval: ({ amount }) => amount > 10,
  run: ({ amount }) => {
    if (amount < 0) throw new ToolError('Not enough money.');
    return amount;
  },
});

/** The events of a real call. */
async function eventsOf(amount: number, approves = true): Promise<readonly ToolEvent[]> {
  const events: ToolEvent[] = [];
  const call = { onEvent: (event: ToolEvent) => void events.push(event), approve: () => approves };
  await new ToolRegistry([pay]).execute('pay', { amount }, call).catch(() => {});
  return events;
}

const event = (state: ToolCallState, over: object = {}): ToolEvent => ({
  call: { id: 'c', tool: 'pay', state, input: {}, ...over },
});
const failed = { failure: { reason: 'threw', message: 'no' } };
const paid = [event('requested'), event('running'), event('succeeded', { output: 1 })];

describe('assertToolLifecycle', () => {
  it('holds for the calls of real tools', async () => {
    assertToolLifecycle(await eventsOf(1), { ends: 'succeeded' });
    assertToolLifecycle(await eventsOf(50), { ends: 'succeeded', only: 'pay' });
    assertToolLifecycle(await eventsOf(50, false), { ends: 'refused' });
    assertToolLifecycle(await eventsOf(-1), { ends: 'failed' });
    assertToolLifecycle([event('requested'), event('running')], { mayBeOpen: true });
    assertToolLifecycle([event('requested'), event('running'), ...paid.slice(1)]);
    const question = { message: 'Which one?' };
    assertToolLifecycle([...paid.slice(0, 2), event('requested', { question }), event('approved'), ...paid.slice(1)]);
    // A task records a short run at its end only.
    assertToolLifecycle(paid.slice(2).map((one) => ({ ...one, taskId: 't' })));
  });

  const faults: readonly (readonly [string, readonly ToolEvent[], RegExp])[] = [
    ['no call', [], /expected a call of a tool, but got none/],
    ['a run that was not requested', paid.slice(1), /event 0: expected pay \(call c\) requested, but got .* running/],
    ['a result before the run', [paid[0], paid[2]] as ToolEvent[], /event 1: expected .* after requested, but got .*/],
    ['a run after the result', [...paid, event('running')], /event 3: expected nothing after succeeded/],
    [
      'a run after a refusal',
      [event('requested'), event('refused', failed), event('running')],
      /event 2: expected nothing after refused/,
    ],
    [
      'an approval after the run',
      [...paid.slice(0, 2), event('approved')],
      /event 2: expected requested or running or succeeded/,
    ],
    [
      'an approval that was not requested',
      [{ ...event('approved'), taskId: 't' }],
      /event 0: expected pay \(call c\) requested or running/,
    ],
    ['a wait without a question', [...paid.slice(0, 2), event('requested')], /event 2: expected a question of pay/],
    ['no end', paid.slice(0, 2), /event 1: expected an end of pay \(call c\) running, but got no more/],
    ['another tool', [event('requested'), event('running', { tool: 'sell' })], /event 1: expected call c of pay/],
    ['no result', [...paid.slice(0, 2), event('succeeded')], /event 2: expected a result of pay/],
    ['no failure', [event('requested'), event('failed')], /event 1: expected a failure of pay/],
    ['a failure too many', [event('requested', failed)], /event 0: expected no failure of pay/],
  ];

  it.each(faults)('finds %s', (_name, events, text) => {
    expect(() => assertToolLifecycle(events)).toThrow(text);
  });

  it('finds another end than the test expects, and a tool that was not called', async () => {
    const events = await eventsOf(-1);
    expect(() => assertToolLifecycle(events, { ends: 'succeeded' })).toThrow(/succeeded, but got .*Not enough money/);
    expect(() => assertToolLifecycle(events, { only: 'sell' })).toThrow('expected a call of sell, but got none');
  });
});
