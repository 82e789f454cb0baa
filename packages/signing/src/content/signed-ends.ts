import type { StreamResponse, Task, TaskState, TaskStatus } from 'parley-a2a';
import { isStreaming, type OperationName, type OperationResponse, type OperationTypes } from 'parley-a2a/binding-kit';
import { BY_VERB, type HandlerMethod, isInterrupted, isTerminal, mapHandler, SIGNING_EXTENSION } from 'parley-a2a/kit';
import type { RequestHandler, ServerCallContext, StreamItem } from 'parley-a2a/server';
import { statusText, type TaskIds } from './canonical-content.js';
import { SignedArtifacts } from './signed-artifacts.js';
import type { AnswerSigning } from './signing-queue.js';

/** States that the engine may write without the agent: after a crash, a cancel or an error. */
export const ENGINE_ENDS: readonly TaskState[] = ['TASK_STATE_FAILED', 'TASK_STATE_CANCELED'];

/** True for a state after which the turn of the agent is over. */
export function endsTurn(state: TaskState): boolean {
  return isTerminal(state) || isInterrupted(state);
}

/** True if the status has a message that is to be signed itself. */
export function hasOwnSignature({ state, message }: TaskStatus): boolean {
  return message !== undefined && (isSigned(message) || !ENGINE_ENDS.includes(state));
}

/** The ports of signed ends. */
type EndSigning = Pick<AnswerSigning, 'signer' | 'issuer' | 'clock'>;

type Request = OperationTypes[OperationName]['request'];

/** The end of a turn, and the claims of its signature. */
interface UnsignedEnd extends TaskIds {
  readonly status: TaskStatus;
  /** The id of the message that the caller has sent. Absent: the call has sent none. */
  readonly re: string | undefined;
  /** The hash of all artifacts. Absent: the answer leaves artifacts out. */
  readonly artifacts: string | undefined;
}

/**
 * Wraps the handler, so that unsigned ends are signed when they are sent. The engine wrote such an end, or it has no
 * message, and then the storage keeps no signature.
 */
export function endSigningHandler(handler: RequestHandler, signing: EndSigning): RequestHandler {
  const ends = new EndSigner(signing);
  const answers = new SignedAnswers(ends, handler);
  return mapHandler(handler, (operation, method) => {
    if (isStreaming(operation)) return (request, context) => answers.stream(method, request, context);
    return async (request, context) => answers.answer((await method(request, context)) as OperationResponse, request);
  });
}

/** Signs ends that have no signature. `re`: the id of the message that the caller has sent. */
export class EndSigner {
  readonly #signing: EndSigning;

  constructor(signing: EndSigning) {
    this.#signing = signing;
  }

  /** `stored`: the task with its artifacts. Without it, the end of an update stays unsigned. */
  async event(
    event: StreamResponse,
    stored: (id: string) => Promise<Task | undefined>,
    re?: string,
  ): Promise<StreamResponse> {
    if (event.task !== undefined) {
      const task = await this.task(event.task, { re });
      return task === event.task ? event : { task };
    }
    if (event.statusUpdate === undefined) return event;
    const { taskId, contextId, status, metadata } = event.statusUpdate;
    if (!isUnsignedEnd(status) || isSigned(event.statusUpdate)) return event;
    const task = await stored(taskId);
    if (task === undefined) return event;
    const artifacts = await (await SignedArtifacts.of(task.artifacts)).digest();
    const signed = await this.#signature({ taskId, contextId, status, re, artifacts });
    return { statusUpdate: { ...event.statusUpdate, metadata: { ...metadata, ...signed } } };
  }

  async task(
    task: Task,
    { re, hasArtifacts = true }: { readonly re?: string | undefined; readonly hasArtifacts?: boolean } = {},
  ): Promise<Task> {
    const { id: taskId, contextId = '', status, metadata } = task;
    if (!isUnsignedEnd(status)) return task;
    const artifacts = hasArtifacts ? await (await SignedArtifacts.of(task.artifacts)).digest() : undefined;
    const signed = await this.#signature({ taskId, contextId, status, re, artifacts });
    return { ...task, metadata: { ...metadata, ...signed } };
  }

  #signature({ status: { state, message }, re, artifacts, ...ids }: UnsignedEnd) {
    const { signer, issuer, clock } = this.#signing;
    const iat = Math.floor(clock.now() / 1_000);
    const stated = { ...(re !== undefined && { re }), ...(artifacts !== undefined && { artifacts }) };
    return signer.sign({
      type: 'status',
      text: statusText(state, ids, message),
      claims: { iss: issuer, iat, state, ...stated },
    });
  }
}

class SignedAnswers {
  readonly #ends: EndSigner;
  readonly #handler: RequestHandler;

  constructor(ends: EndSigner, handler: RequestHandler) {
    this.#ends = ends;
    this.#handler = handler;
  }

  async answer(answer: OperationResponse, request: Request): Promise<OperationResponse> {
    const ends = this.#ends;
    if (answer === undefined) return answer;
    if ('tasks' in answer) {
      const hasArtifacts = 'includeArtifacts' in request && request.includeArtifacts === true;
      const tasks: Task[] = [];
      for (const task of answer.tasks) tasks.push(await ends.task(task, { hasArtifacts }));
      return { ...answer, tasks };
    }
    if ('task' in answer && answer.task !== undefined)
      return { task: await ends.task(answer.task, { re: sentId(request) }) };
    return 'status' in answer ? ends.task(answer, { re: sentId(request) }) : answer;
  }

  /** The items of a stream, one after another. A caller may leave while an item is awaited. */
  stream(method: HandlerMethod, request: Request, context: ServerCallContext): AsyncIterable<StreamItem> {
    const source = method(request, context) as AsyncIterable<StreamItem>;
    return {
      [Symbol.asyncIterator]: () => {
        const items = source[Symbol.asyncIterator]();
        return {
          next: async () => {
            const next = await items.next();
            return next.done === true ? next : { ...next, value: await this.#item(next.value, request, context) };
          },
          return: async () => (await items.return?.()) ?? { value: undefined, done: true },
        };
      },
    };
  }

  async #item(item: StreamItem, request: Request, context: ServerCallContext): Promise<StreamItem> {
    const findStored = (id: string) => this.#readStored(id, request, context);
    const event = await this.#ends.event(item.event, findStored, sentId(request));
    if (event === item.event) return item;
    const { text: _, ...rest } = item;
    return { ...rest, event };
  }

  /** The task whose last event has no artifacts. Undefined if it is gone: its end then has no signature. */
  async #readStored(id: string, { tenant }: Request, context: ServerCallContext): Promise<Task | undefined> {
    try {
      return await this.#handler[BY_VERB.get](
        { id, historyLength: 0, ...(tenant !== undefined && { tenant }) },
        context,
      );
    } catch {
      return undefined;
    }
  }
}

function isUnsignedEnd(status: TaskStatus): boolean {
  return endsTurn(status.state) && !hasOwnSignature(status);
}

function isSigned({ metadata }: Pick<Task, 'metadata'>): boolean {
  return metadata?.[SIGNING_EXTENSION] !== undefined;
}

function sentId(request: Request): string | undefined {
  return 'message' in request ? request.message.messageId : undefined;
}
