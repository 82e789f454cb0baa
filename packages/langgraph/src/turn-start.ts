import type { JsonValue, Message } from 'parley-a2a';
import { answersIn, askedIn, type InterruptAnswers, type OpenInterrupt } from './interrupt-question.js';
import { isPause } from './runnable-graph.js';
import { isAt, type ThreadPosition } from './thread-position.js';

/** The first step of a turn on its thread. */
export type TurnStart =
  /** The message is new input. */
  | { readonly kind: 'input' }
  /** The message answers interrupts. `fault`: why another of its answers does not fit. */
  | { readonly kind: 'answer'; readonly answers: InterruptAnswers['values']; readonly fault: string | undefined }
  /** The thread resumes from its last checkpoint. */
  | { readonly kind: 'continue' }
  /** The message has no answer to any question. `fault`: why an answer does not fit. */
  | { readonly kind: 'unclear'; readonly fault: string | undefined }
  /** The thread no longer waits for the answer. */
  | { readonly kind: 'overtaken' };

/** The inputs of the decision. */
interface TurnFacts {
  readonly message: Message;
  /** The last message before, which may be a question. */
  readonly question: Message | undefined;
  /** The interrupts that the thread waits for. */
  readonly open: readonly OpenInterrupt[];
  readonly position: ThreadPosition;
  /** The position that an earlier attempt of the turn started from. */
  readonly saved: JsonValue | undefined;
}

/** Decides how a turn starts. */
export function turnStart({ message, question, open, position, saved }: TurnFacts): TurnStart {
  if (!isAt(position, saved)) return { kind: 'continue' };
  const asked = askedIn(question);
  if (asked.length === 0) return { kind: 'input' };
  const waiting = open.filter(({ id }) => asked.includes(id));
  if (waiting.length === 0) return { kind: 'overtaken' };
  if (waiting.every(({ id }) => isPause(id))) return { kind: 'continue' };
  const { values, fault } = answersIn(message, waiting);
  return Object.keys(values).length > 0 ? { kind: 'answer', answers: values, fault } : { kind: 'unclear', fault };
}
