import type { JsonObject, JsonValue } from 'parley-a2a';
import { isObject } from 'parley-a2a/kit';
import type { RequestContext } from 'parley-a2a/server';
import { keptCalls, type MadeCall } from './recorded-calls.js';
import type { RunAnswer } from './run-answer.js';

/** The stored run at the start of an attempt. */
type KeptRun =
  /** No step has ended: the turn begins again. */
  | { readonly kind: 'none'; readonly calls: readonly MadeCall[] }
  /** The steps so far, serialized by the SDK. */
  | { readonly kind: 'kept'; readonly state: string; readonly calls: readonly MadeCall[] }
  /** Steps have ended, but their state was too large to store. They must not run again. */
  | { readonly kind: 'too large' };

/** Stores the state of a run after each step, and the calls of the step after it, for the next attempt of its turn. */
export class RunCheckpoints {
  readonly #context: RequestContext;
  readonly #answer: RunAnswer;
  readonly #maxChars: number;
  #step: { readonly state?: string; readonly answer: JsonObject };
  /** The calls of the current step, by their ids. */
  #calls = new Map<string, MadeCall>();
  /** Serializes the writes, so that the last one has all calls. */
  #written: Promise<void> = Promise.resolve();

  constructor({ context, answer, maxChars }: { context: RequestContext; answer: RunAnswer; maxChars: number }) {
    this.#context = context;
    this.#answer = answer;
    this.#maxChars = maxChars;
    this.#step = { answer: answer.state };
  }

  /** Reads the run of an earlier attempt, and resets its text to the last finished step. */
  async restore(): Promise<KeptRun> {
    if (this.#context.attempt === 1) return { kind: 'none', calls: [] };
    const { artifactId } = this.#answer;
    const records = await this.#context.previousEvents();
    const wasPublished = records.some(
      ({ event }) => event.artifactUpdate !== undefined && event.artifactUpdate.artifact.artifactId === artifactId,
    );
    const { checkpoint } = this.#context;
    await this.#answer.restore(isObject(checkpoint) ? checkpoint.answer : undefined, wasPublished);
    const kept = keptRunOf(checkpoint);
    if (kept.kind === 'too large') return kept;
    this.#step = { answer: this.#answer.state, ...(kept.kind === 'kept' && { state: kept.state }) };
    this.#calls = new Map(kept.calls.map((call) => [call.callId, call]));
    return kept;
  }

  /** Resolves when the state is stored. From then on, finished steps do not run again. */
  save(state: string): Promise<void> {
    this.#step = { state, answer: this.#answer.state };
    this.#calls.clear();
    return this.#write();
  }

  /** Resolves when the call is stored. From then on, it is not repeated. */
  begin(call: MadeCall): Promise<void> {
    this.#calls.set(call.callId, call);
    return this.#write();
  }

  /** Resolves when the result of a call is stored. One that is too large is dropped. */
  end(callId: string, output: string): Promise<void> {
    const call = this.#calls.get(callId);
    if (call === undefined || this.#charsWith(output) > this.#maxChars) return this.#written;
    this.#calls.set(callId, { ...call, output });
    return this.#write();
  }

  #charsWith(text: string): number {
    const calls = [...this.#calls.values()].map((call) => call.arguments.length + (call.output?.length ?? 0));
    return calls.reduce((sum, chars) => sum + chars, (this.#step.state?.length ?? 0) + text.length);
  }

  #write(): Promise<void> {
    const calls = [...this.#calls.values()].map((call): JsonObject => ({ ...call }));
    const isKept = this.#charsWith('') <= this.#maxChars;
    const value: JsonValue = isKept ? { ...this.#step, ...(calls.length > 0 && { calls }) } : { isTooLarge: true };
    this.#written = this.#written.then(() => this.#context.saveCheckpoint(value));
    return this.#written;
  }
}

function keptRunOf(checkpoint: JsonValue | undefined): KeptRun {
  if (!isObject(checkpoint)) return { kind: 'none', calls: [] };
  if (checkpoint.isTooLarge === true) return { kind: 'too large' };
  const { state } = checkpoint;
  const calls = keptCalls(checkpoint.calls as JsonValue | undefined);
  return typeof state === 'string' ? { kind: 'kept', state, calls } : { kind: 'none', calls };
}
