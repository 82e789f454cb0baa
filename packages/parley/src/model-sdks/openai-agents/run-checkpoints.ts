import { isObject, type JsonValue } from '../../model/json.js';
import type { RequestContext } from '../../server/request-context.js';
import type { RunAnswer } from './run-answer.js';

/** A run as an attempt of its turn finds it. */
export type KeptRun =
  /** No step has ended: the turn begins again. */
  | { readonly kind: 'none' }
  /** The steps so far, as text of the SDK. */
  | { readonly kind: 'kept'; readonly state: string }
  /** Steps have ended, and their state was too large to keep. They must not run again. */
  | { readonly kind: 'too large' };

/** The part of the state of a run that is kept: its JSON. */
interface Serializable {
  toString(): string;
}

/** Keeps the state of a run after each step, for the next attempt of its turn. */
export class RunCheckpoints {
  readonly #context: RequestContext;
  readonly #answer: RunAnswer;
  readonly #maxChars: number;

  constructor({ context, answer, maxChars }: { context: RequestContext; answer: RunAnswer; maxChars: number }) {
    this.#context = context;
    this.#answer = answer;
    this.#maxChars = maxChars;
  }

  /** Finds the run of an earlier attempt, and sets its text back to the last step that ended. */
  async restore(): Promise<KeptRun> {
    if (this.#context.attempt === 1) return { kind: 'none' };
    const { artifactId } = this.#answer;
    const records = await this.#context.previousEvents();
    const wasPublished = records.some(
      ({ event }) => 'artifactUpdate' in event && event.artifactUpdate.artifact.artifactId === artifactId,
    );
    const { checkpoint } = this.#context;
    await this.#answer.restore(isObject(checkpoint) ? checkpoint.answer : undefined, wasPublished);
    return keptRunOf(checkpoint);
  }

  /** Resolves when the state is stored: a step that has ended does not run again from then on. */
  async save(state: Serializable): Promise<void> {
    const text = state.toString();
    const isKept = text.length <= this.#maxChars;
    await this.#context.saveCheckpoint(isKept ? { state: text, answer: this.#answer.state } : { isTooLarge: true });
  }
}

function keptRunOf(checkpoint: JsonValue | undefined): KeptRun {
  if (!isObject(checkpoint)) return { kind: 'none' };
  if (checkpoint.isTooLarge === true) return { kind: 'too large' };
  return typeof checkpoint.state === 'string' ? { kind: 'kept', state: checkpoint.state } : { kind: 'none' };
}
