import type { StreamResponse } from 'parley-a2a';
import type { CallOptions, Client, SendInput } from 'parley-a2a/client';
import { A2AError, ignoreRejection, isInterrupted, isTerminal } from 'parley-a2a/kit';

/** The bounds of a turn of another agent. */
export interface AgentTurnOptions {
  readonly signal: AbortSignal | undefined;
  /** Longest turn, in ms. Default: no limit. */
  readonly timeoutMs?: number;
  /** Extensions that the calls declare. */
  readonly extensions?: readonly string[];
  /** `input`: while its task needs an authorization, the turn continues as long as the agent keeps the stream open. */
  readonly until?: 'input';
  /** Called when the reader leaves. False: the task continues. Default: always true. */
  cancels?(): boolean;
}

/** A message that begins a turn, or a task whose turn is resumed. */
export type TurnSource = SendInput | { readonly subscribeTo: string };

type Step = IteratorResult<StreamResponse, undefined>;

/** Longest wait for the answer to a cancel request, in ms. */
const CANCEL_MS = 10_000;

/**
 * Sends a message, and yields the events of its turn until the task has ended or waits for its caller. If the reader
 * leaves earlier, the signal aborts or the time is over, the task is canceled.
 * @throws the reason of the signal, `A2AError` and `ConnectionError`.
 */
export async function* agentTurn(
  client: Client,
  source: TurnSource,
  { signal, until, cancels = () => true, ...limits }: AgentTurnOptions,
): AsyncGenerator<StreamResponse> {
  signal?.throwIfAborted();
  const connection = new AbortController();
  const events = eventsOf(client, source, { ...limits, signal: connection.signal, until: until ?? 'answer' });
  const continued = continuedTask(source);
  let next: Promise<Step> | undefined;
  let first: StreamResponse | undefined;
  let isOver = false;
  let stop = (): void => {};
  const onAbort = (): void => stop();
  signal?.addEventListener('abort', onAbort);
  try {
    while (!isOver) {
      const reading = ignoreRejection(events.next());
      next = reading;
      const step = await new Promise<Step | undefined>((resolve, reject) => {
        stop = () => resolve(undefined);
        reading.then(resolve, reject);
      });
      signal?.throwIfAborted();
      if (step === undefined || step.done === true) return;
      isOver = endsTurn(step.value, { continued: first === undefined ? continued : undefined, until });
      first ??= step.value;
      yield step.value;
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    if (!cancels()) connection.abort();
    else ignoreRejection(leave({ client, first, next, connection, isOver }).finally(() => events.return(undefined)));
  }
}

function continuedTask(source: TurnSource): string | undefined {
  if (typeof source === 'string' || 'subscribeTo' in source || typeof source.message === 'string') return undefined;
  return source.message.taskId;
}

/** An agent without streams answers with a task that may still work. */
async function* eventsOf(
  client: Client,
  source: TurnSource,
  { until, ...options }: CallOptions & { readonly until: 'answer' | 'input' },
): AsyncGenerator<StreamResponse, undefined> {
  const hasStreams = client.card.capabilities.streaming === true;
  if (typeof source === 'object' && 'subscribeTo' in source) {
    const id = source.subscribeTo;
    try {
      if (hasStreams) {
        yield* client.subscribeToTask(id, options);
        return;
      }
    } catch (error) {
      // The task may have ended since it was read.
      if (!(error instanceof A2AError && error.code === 'UNSUPPORTED_OPERATION')) throw error;
    }
    yield { task: await client.waitFor(id, { ...options, until }) };
    return;
  }
  if (hasStreams) {
    yield* client.sendStreamingMessage(source, options);
    return;
  }
  const answer = await client.sendMessage(source, options);
  yield answer;
  if (answer.task !== undefined) yield { task: await client.waitFor(answer.task.id, { ...options, until }) };
}

/** The first snapshot of a continued task shows the question that the message answers. */
function endsTurn(
  event: StreamResponse,
  { continued, until }: { readonly continued: string | undefined; readonly until: 'input' | undefined },
): boolean {
  if (event.message !== undefined) return true;
  if (event.artifactUpdate !== undefined) return false;
  const { state } = event.task !== undefined ? event.task.status : event.statusUpdate.status;
  const isBefore = event.task !== undefined && event.task.id === continued;
  if (until === 'input' && state === 'TASK_STATE_AUTH_REQUIRED') return false;
  return isTerminal(state) || (isInterrupted(state) && !isBefore);
}

/** A turn that its reader leaves. */
interface LeftTurn {
  readonly client: Client;
  readonly first: StreamResponse | undefined;
  readonly next: Promise<Step> | undefined;
  readonly connection: AbortController;
  readonly isOver: boolean;
}

/** Closes the connection. The first event names the task, so the end of an unfinished turn waits for it. */
async function leave({ client, first, next, connection, isOver }: LeftTurn): Promise<void> {
  try {
    if (isOver) return;
    const event = first ?? (await next)?.value;
    const taskId = event === undefined ? undefined : taskIdOf(event);
    if (taskId === undefined) return;
    connection.abort();
    await client.cancelTask(taskId, { timeoutMs: CANCEL_MS });
  } finally {
    connection.abort();
  }
}

/** The task that an event is about. A message belongs to none. */
export function taskIdOf(event: StreamResponse): string | undefined {
  if (event.task !== undefined) return event.task.id;
  if (event.message !== undefined) return undefined;
  return event.statusUpdate !== undefined ? event.statusUpdate.taskId : event.artifactUpdate.taskId;
}
