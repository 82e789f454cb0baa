import { isObject } from '../model/json.js';
import { kindOf } from '../model/kind-of.js';
import type { Part } from '../model/part.js';
import { refuseArgument } from '../options/refuse-argument.js';
import { SETTLED } from '../runtime/settled.js';
import type { AgentExecutor } from './agent-executor.js';
import { type EventQueue, MORE_FOLLOWS } from './event-queue.js';
import type { ModelStream } from './model-stream.js';
import type { RequestContext } from './request-context.js';

/** An answer to a prompt: a text, parts, or nothing. */
export type Answer = string | Part | readonly Part[] | undefined;

/** Pieces of an answer, or the whole result of `streamText` of the AI SDK. */
type StreamedAnswer = AsyncIterable<string | Part> | ModelStream;

/** An answer as a value, a promise, or a stream of pieces. */
export type AnswerSource = Answer | StreamedAnswer | Promise<Answer | StreamedAnswer>;

/** Answers a prompt: the text parts of the message, joined by a newline. */
export type PromptFunction = (prompt: string, context: RequestContext) => AnswerSource;

/** An object with `run(prompt)`. */
export interface PromptRunner {
  run(prompt: string, context: RequestContext): AnswerSource;
}

/**
 * Makes an agent from a function, an async generator function or an object with `run(prompt)`. The task becomes
 * WORKING, the answer becomes its artifact, and the task becomes COMPLETED. Pieces of an answer are streamed. The task
 * becomes FAILED if the function or its model throws.
 */
export function agent(source: PromptFunction | PromptRunner): AgentExecutor {
  if (typeof source !== 'function' && typeof source?.run !== 'function')
    refuseArgument('agent', 'a function, or an object with a method run', source);
  const run: PromptFunction = typeof source === 'function' ? source : (prompt, context) => source.run(prompt, context);
  let isTold = false;
  const endOf = (hasAnswer: boolean): undefined => {
    if (hasAnswer || isTold) return undefined;
    isTold = true;
    return NO_ANSWER as unknown as undefined;
  };
  return {
    async execute(context, events) {
      events.working();
      const result = await run(context.text, context);
      const answer = isModelStream(result) ? await modelText(result, context) : result;
      if (isAsyncIterable(answer)) {
        const pieces = await stream(answer, context, events);
        // An incomplete answer must not complete the task. The engine ends the task with the reason of the abort.
        if (pieces === undefined) return;
        await events.complete();
        return endOf(pieces > 0);
      }
      if (answer !== undefined && !isEmptyList(answer)) {
        if (typeof answer !== 'string') checkAnswer(answer, 'returned');
        await events.artifact(answer, { name: 'response' });
      }
      await events.complete();
      return endOf(answer !== undefined);
    },
  };
}

/** Returned when a function gave no answer in its first turn: the engine logs a warning for its author. */
export const NO_ANSWER: unique symbol = Symbol('no answer');

/** Streams an answer. Resolves to the number of pieces, or undefined after an abort. */
async function stream(
  pieces: AsyncIterable<string | Part>,
  { signal }: RequestContext,
  events: EventQueue,
): Promise<number | undefined> {
  let artifactId: string | undefined;
  const say = (content: string | Part): Promise<void> => {
    if (artifactId !== undefined) return events.append(artifactId, content);
    return events.artifact(content, { name: 'response', ...MORE_FOLLOWS }).then((id) => {
      artifactId = id;
    });
  };
  // A piece may end in the middle of a surrogate pair. The first half waits for the second.
  let half = '';
  let count = 0;
  for await (const piece of pieces) {
    // Leaving the loop ends the generator too, so that a canceled task leaves nothing running.
    if (signal.aborted) return undefined;
    if (typeof piece !== 'string') checkAnswer(piece, 'yielded');
    count += 1;
    let content = piece;
    if (half !== '' && typeof piece !== 'string') await say(half);
    else if (half !== '' || (typeof piece === 'string' && endsInHalf(piece))) {
      const text = `${half}${piece as string}`;
      half = endsInHalf(text) ? text.slice(-1) : '';
      if (text === half) continue;
      content = half === '' ? text : text.slice(0, -1);
    }
    const room = say(content);
    // Awaited only if the buffer is full: an `await` per piece would cost a microtask each.
    if (room !== SETTLED) await room;
  }
  if (half !== '') await say(half);
  return signal.aborted ? undefined : count;
}

/** True if a text ends with the first half of a surrogate pair. */
function endsInHalf(text: string): boolean {
  return (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800;
}

function isAsyncIterable(value: Answer | AsyncIterable<string | Part>): value is AsyncIterable<string | Part> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** @throws TypeError for a value that is neither a part nor, as a whole answer, a list of parts. */
function checkAnswer(value: unknown, verb: 'returned' | 'yielded'): void {
  const isParts = verb === 'returned' && Array.isArray(value);
  if (isParts ? value.every(isPart) : isPart(value)) return;
  if (isObject(value) && Symbol.iterator in value)
    throw new TypeError(`The agent ${verb} a generator that is not async. Write it as async function*`);
  const remedy = verb === 'yielded' ? 'Yield' : 'Return';
  const fault = `The agent ${verb} ${kindOf(value)}`;
  throw new TypeError(`${fault}. ${remedy} a text or a part, such as { data: value } for JSON`);
}

function isPart(value: unknown): boolean {
  return isObject(value) && ('text' in value || 'data' in value || 'raw' in value || 'url' in value);
}

function isEmptyList(value: Answer): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** True for the result of `streamText`, false for the other answers of an agent. */
function isModelStream(value: unknown): value is ModelStream {
  return typeof value === 'object' && value !== null && 'fullStream' in value;
}

/** Loaded on demand with the first result of this kind. */
async function modelText(result: ModelStream, { signal }: RequestContext): Promise<AsyncIterable<string>> {
  const code = await import('./model-stream.js');
  return code.modelText(result, signal);
}
