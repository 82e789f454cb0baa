import type { ModelMessage, ToolSet } from 'ai';
import type { JsonObject, JsonValue } from 'parley-a2a';
import { isObject } from 'parley-a2a/kit';
import type { RequestContext } from 'parley-a2a/server';
import { keptText, messagesIn } from './kept-messages.js';

/** The stored answer at the start of an attempt. */
export type KeptAnswer =
  /** The model has not been called yet: the turn begins again. */
  | { readonly kind: 'none' }
  /** `messages` of the next step, and the answer before it. */
  | { readonly kind: 'kept'; readonly messages: readonly ModelMessage[]; readonly answer: JsonObject }
  /** The messages were too large to store. Finished steps must not run again. */
  | { readonly kind: 'too large' };

/** Maximum number of characters of stored messages, as JSON. */
const MAX_CHARS = 262_144;

/** Stores the messages of a model before each step, and the answer so far, for the next attempt of the turn. */
export class StepCheckpoints {
  readonly #context: RequestContext;
  readonly #left: AbortSignal;
  /** The answer after the last step that was read in full. */
  #answer: JsonObject = {};
  #ended = 0;
  readonly #recorded = new Set<string>();
  #changed = Promise.withResolvers<void>();

  /** `left` is aborted when the answer is no longer read. */
  constructor(context: RequestContext, left: AbortSignal) {
    this.#context = context;
    this.#left = left;
    left.addEventListener('abort', () => this.#change(), { once: true });
  }

  /** Finds the answer of an earlier attempt. */
  restore(): KeptAnswer {
    const { checkpoint, attempt } = this.#context;
    if (attempt === 1 || !isObject(checkpoint)) return { kind: 'none' };
    if (checkpoint.isTooLarge === true) return { kind: 'too large' };
    const { messages, answer } = checkpoint;
    if (typeof messages !== 'string' || !isObject(answer)) return { kind: 'none' };
    this.#answer = answer as JsonObject;
    return { kind: 'kept', messages: messagesIn(messages), answer: this.#answer };
  }

  /** Called when the reader has read a step to its end. */
  stepEnded(answer: JsonObject): void {
    this.#answer = answer;
    this.#ended += 1;
    this.#change();
  }

  /** Called when the record of a call is stored, so that it may run. */
  callRecorded(id: string): void {
    this.#recorded.add(id);
    this.#change();
  }

  /**
   * Wraps tools so that each call waits until its record is stored. After a crash the call is then known, and not
   * repeated.
   */
  recordedFirst(tools: ToolSet): ToolSet {
    return Object.fromEntries(
      Object.entries(tools).map(([name, tool]) => {
        const { execute } = tool;
        if (execute === undefined) return [name, tool];
        const waitUntilRecorded = (id: string) => this.#until(() => this.#recorded.has(id));
        const executeOnceRecorded: typeof execute = async function* (input, options) {
          await waitUntilRecorded(options.toolCallId);
          const output: unknown = execute.call(tool, input, options);
          if (isAsyncIterable(output)) yield* output;
          else yield await output;
        };
        return [name, { ...tool, execute: executeOnceRecorded } as typeof tool];
      }),
    );
  }

  /** Resolves when the messages of a step are stored. `steps` have ended before it, in this attempt. */
  async save(steps: number, messages: readonly ModelMessage[]): Promise<void> {
    // The AI SDK may be ahead of the reader, which has written the text.
    await this.#until(() => this.#ended >= steps);
    const text = keptText(messages);
    const kept: JsonValue = { messages: text, answer: this.#answer };
    await this.#context.saveCheckpoint(text.length <= MAX_CHARS ? kept : { isTooLarge: true });
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  async #until(isTrue: () => boolean): Promise<void> {
    while (!isTrue() && !this.#left.aborted) await this.#changed.promise;
    this.#left.throwIfAborted();
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
