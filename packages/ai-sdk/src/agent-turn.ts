import type { StreamResponse } from 'parley-a2a';
import type { Client, SendInput } from 'parley-a2a/client';
import { ignoreRejection, isInterrupted, isTerminal } from 'parley-a2a/kit';

/** The bounds of a turn of another agent. */
export interface AgentTurnOptions {
  readonly signal: AbortSignal | undefined;
  /** Longest turn, in ms. */
  readonly timeoutMs: number;
}

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
  input: SendInput,
  { signal, timeoutMs }: AgentTurnOptions,
): AsyncGenerator<StreamResponse> {
  signal?.throwIfAborted();
  const connection = new AbortController();
  const events = eventsOf(client, input, { timeoutMs, signal: connection.signal });
  const continued = typeof input === 'string' || typeof input.message === 'string' ? undefined : input.message.taskId;
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
      isOver = endsTurn(step.value, first === undefined ? continued : undefined);
      first ??= step.value;
      yield step.value;
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    ignoreRejection(leave({ client, first, next, connection, isOver }).finally(() => events.return(undefined)));
  }
}

/** An agent without streams answers with a task that may still work. */
async function* eventsOf(
  client: Client,
  input: SendInput,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): AsyncGenerator<StreamResponse, undefined> {
  if (client.card.capabilities.streaming === true) {
    yield* client.sendStreamingMessage(input, { timeoutMs, signal });
    return;
  }
  const answer = await client.sendMessage(input, { timeoutMs, signal });
  yield answer;
  if (answer.task !== undefined) yield { task: await client.waitFor(answer.task.id, { timeoutMs, signal }) };
}

/** The first snapshot of a continued task shows the question that the message answers. */
function endsTurn(event: StreamResponse, continued: string | undefined): boolean {
  if (event.message !== undefined) return true;
  if (event.artifactUpdate !== undefined) return false;
  const { state } = event.task !== undefined ? event.task.status : event.statusUpdate.status;
  const isBefore = event.task !== undefined && event.task.id === continued;
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

function taskIdOf(event: StreamResponse): string | undefined {
  if (event.task !== undefined) return event.task.id;
  if (event.message !== undefined) return undefined;
  return event.statusUpdate !== undefined ? event.statusUpdate.taskId : event.artifactUpdate.taskId;
}
