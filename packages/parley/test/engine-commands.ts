import fc from 'fast-check';
import type { WakeupFate } from './faulty-wakeups.js';

/** Steps of an agent. The message selects them. */
export const STEPS = [
  'working',
  'artifact',
  'append',
  'append',
  'flush',
  'pause',
  'yield',
  'input',
  'auth',
  'complete',
  'fail',
  'reject',
  'message',
  'submitted',
  'throw',
  'garbage',
  'until-aborted',
  'hang',
] as const;
export type Step = (typeof STEPS)[number];

/** Something that happens in a world. `on` picks one of the processes that live. */
export type Command =
  | {
      readonly do: 'send' | 'stream';
      readonly on: number;
      readonly script: readonly Step[];
      readonly task: number;
      readonly fresh: boolean;
      readonly immediately: boolean;
      readonly key: number;
    }
  | { readonly do: 'cancel' | 'subscribe' | 'resume' | 'drop' | 'stall'; readonly on: number; readonly task: number }
  | { readonly do: 'steps'; readonly picks: readonly number[] }
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'join' }
  | { readonly do: 'wakeups'; readonly fate: WakeupFate }
  | { readonly do: 'restart'; readonly on: number }
  | { readonly do: 'close'; readonly on: number; readonly graceMs: number };

const script = fc.array(fc.constantFrom(...STEPS), { maxLength: 8 });
const which = fc.nat({ max: 7 });
/** Any command. */
export const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('send' as const, 'stream' as const),
      on: which,
      script,
      task: which,
      fresh: fc.boolean(),
      immediately: fc.boolean(),
      key: which,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'cancel' as const,
        'subscribe' as const,
        'resume' as const,
        'drop' as const,
        'stall' as const,
      ),
      on: which,
      task: which,
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('steps' as const),
      picks: fc.array(fc.nat({ max: 99 }), { minLength: 1, maxLength: 12 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(1, 3, 60, 1_000, 6_000, 40_000) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('join' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('wakeups' as const),
      fate: fc.constantFrom<WakeupFate>('deliver', 'lose', 'repeat', 'hold'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), on: which }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('close' as const), on: which, graceMs: fc.constantFrom(0, 60, 5_000) }),
  },
);
