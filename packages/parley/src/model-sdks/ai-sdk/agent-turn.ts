import type { Client } from '../../client/client.js';
import type { SendInput } from '../../client/outgoing-message.js';
import type { TaskStream } from '../../client/task-stream.js';
import type { StreamResponse } from '../../model/stream-response.js';
import { isInterrupted, isTerminal } from '../../model/task-state.js';
import { ignoreRejection } from '../../runtime/settled.js';

/** The bounds of a turn of another agent. */
export interface AgentTurnOptions {
  readonly signal: AbortSignal | undefined;
  /** Longest turn, in ms. */
  readonly timeoutMs: number;
}

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
  const stream = client.sendStreamingMessage(input, { timeoutMs });
  let next: Promise<IteratorResult<StreamResponse, undefined>> | undefined;
  const continued = typeof input === 'string' || typeof input.message === 'string' ? undefined : input.message.taskId;
  let isFirst = true;
  let isOver = false;
  let stop = (): void => {};
  const onAbort = (): void => stop();
  signal?.addEventListener('abort', onAbort);
  try {
    while (!isOver) {
      const reading = ignoreRejection(stream.next());
      next = reading;
      const step = await new Promise<IteratorResult<StreamResponse, undefined> | undefined>((resolve, reject) => {
        stop = () => resolve(undefined);
        reading.then(resolve, reject);
      });
      signal?.throwIfAborted();
      if (step === undefined || step.done === true) return;
      next = undefined;
      isOver = endsTurn(step.value, isFirst && 'task' in step.value && step.value.task.id === continued);
      isFirst = false;
      yield step.value;
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    ignoreRejection(leave(client, stream, isOver ? undefined : { next }));
  }
}

/** The first snapshot of a continued task shows the question that the message answers. */
function endsTurn(event: StreamResponse, isBefore: boolean): boolean {
  if ('message' in event) return true;
  if ('artifactUpdate' in event) return false;
  const { state } = 'task' in event ? event.task.status : event.statusUpdate.status;
  return isTerminal(state) || (isInterrupted(state) && !isBefore);
}

/** Ends the stream. The first event names the task, so a canceled turn waits for it. */
async function leave(
  client: Client,
  stream: TaskStream,
  unfinished: { readonly next: Promise<unknown> | undefined } | undefined,
): Promise<void> {
  try {
    if (unfinished === undefined) return;
    if (stream.taskId === undefined) await unfinished.next?.catch(() => {});
    const { taskId, state } = stream;
    if (taskId === undefined || (state !== undefined && isTerminal(state))) return;
    await client.cancelTask(taskId, { timeoutMs: CANCEL_MS });
  } finally {
    await stream.return();
  }
}
