import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { JsonValue } from '../model/json.js';
import { totalTokens, USAGE_EXTENSION, UsageSums, usageIn } from './token-usage.js';

const usage = fc.record({
  inputTokens: fc.nat(1_000),
  outputTokens: fc.nat(1_000),
  cachedInputTokens: fc.constant(0),
});
/** An attempt counts calls, and dies or ends. The latest counts may be missing in the record of the task. */
const attempt = fc.record({
  calls: fc.array(usage, { maxLength: 5 }),
  recordsAfter: fc.nat(5),
  endsTurn: fc.boolean(),
});

it('each call counts once, over any crashes and turns', () => {
  fc.assert(
    fc.property(fc.array(attempt, { maxLength: 10 }), (attempts) => {
      let recorded: JsonValue | undefined;
      let kept: JsonValue | undefined;
      let number = 1;
      let expected = 0;
      let ofTurn = 0;
      for (const { calls, recordsAfter, endsTurn } of attempts) {
        const sums = new UsageSums([recorded, kept], number);
        for (const [at, call] of calls.entries()) {
          sums.add(call);
          expected += call.inputTokens + call.outputTokens;
          ofTurn += call.inputTokens + call.outputTokens;
          kept = sums.state;
          if (at === recordsAfter) recorded = sums.takeMetadata()?.[USAGE_EXTENSION] ?? recorded;
        }
        expect([totalTokens(sums.task), totalTokens(sums.turn)]).toEqual([expected, ofTurn]);
        if (!endsTurn) continue;
        recorded = sums.takeMetadata()?.[USAGE_EXTENSION] ?? recorded;
        kept = undefined;
        number += 1;
        ofTurn = 0;
        const told = usageIn(recorded === undefined ? undefined : { [USAGE_EXTENSION]: recorded });
        expect(told === undefined ? 0 : totalTokens(told)).toBe(expected);
      }
    }),
  );
});

it('a called task counts what it has used since the last answer, in each order of answers', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.nat(500)), { maxLength: 20 }), (answers) => {
      let state: JsonValue | undefined;
      for (const [task, tokens] of answers) {
        const sums = new UsageSums([state, undefined], 1);
        sums.addCalled(task, tokens);
        state = sums.state;
      }
      const most = (task: string) =>
        Math.max(0, ...answers.filter(([one]) => one === task).map(([, tokens]) => tokens));
      expect(new UsageSums([state], 1).task.calledTokens).toBe(most('a') + most('b'));
    }),
  );
});

it.each([null, 'many', { inputTokens: -1 }, { inputTokens: '3', turn: 7, called: [] }, { outputTokens: 1e300 }])(
  'no foreign form of the metadata is believed: %j',
  (forged) => {
    const found = usageIn({ [USAGE_EXTENSION]: forged });
    expect(found === undefined ? 0 : totalTokens(found)).toBe(0);
    expect(totalTokens(new UsageSums([forged], 1).task)).toBe(0);
  },
);
