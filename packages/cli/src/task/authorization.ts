import { A2AError, type StreamResponse, type Task, type TaskStatus } from 'parley-a2a';
import type { TaskStream } from 'parley-a2a/client';
import type { CalledAgent } from '../agent/with-agent.js';
import type { Invocation } from '../command-line/invocation.js';
import { pollOptions, streams } from './waiting.js';

interface WaitingTask {
  readonly task: Task;
  readonly signal: AbortSignal;
}

/** True if waiting continues while a task asks for authorization, which is given outside of this tool (Spec §7.6). */
export function awaitsAuthorization({ settings }: Invocation): boolean {
  return settings.isOn('await-auth');
}

/**
 * Returns a task. With `--await-auth`, a task that asks for authorization is returned once it has ended or asks for
 * something else. Authorization requests are printed to stderr.
 */
export async function afterAuthorization(
  invocation: Invocation,
  { client, thread }: Pick<CalledAgent, 'client' | 'thread'>,
  { task, signal }: WaitingTask,
): Promise<Task> {
  if (!awaitsAuthorization(invocation) || !asksForAuthorization(task.status)) return task;
  const tell = authorizationTeller(invocation);
  tell(task.status);
  if (streams(client)) {
    try {
      for await (const event of client.subscribeToTask(task.id, { signal })) {
        thread.learn(event);
        tell(statusOf(event));
        if (thread.isOver && !thread.asksForAuthorization) break;
      }
    } catch (error) {
      // Agents differ in the streams that they refuse, so the tool polls instead.
      if (!(error instanceof A2AError)) throw error;
    }
  }
  const later = await client.waitFor(task.id, { signal, ...pollOptions(invocation), until: 'input' });
  thread.learnTask(later);
  return later;
}

/** Follows a task after the agent closed its stream at an authorization request, if `--await-auth` is on. */
export async function followAuthorization(
  invocation: Invocation,
  agent: Pick<CalledAgent, 'client' | 'thread'>,
  { signal, show }: { readonly signal: AbortSignal; readonly show: (event: StreamResponse) => void },
): Promise<void> {
  const { client, thread } = agent;
  if (!thread.asksForAuthorization || !awaitsAuthorization(invocation)) return;
  const asking = await client.getTask(thread.taskId ?? '', { signal });
  show({ task: await afterAuthorization(invocation, agent, { task: asking, signal }) });
}

/**
 * True if the last event ends a stream, because the task waits for its caller. With `--await-auth`, an authorization
 * request does not end it.
 */
export function stopsStream(invocation: Invocation, stream: Pick<TaskStream, 'isWaiting' | 'state'>): boolean {
  return stream.isWaiting && !(awaitsAuthorization(invocation) && stream.state === 'TASK_STATE_AUTH_REQUIRED');
}

function asksForAuthorization({ state }: TaskStatus): boolean {
  return state === 'TASK_STATE_AUTH_REQUIRED';
}

function statusOf(event: StreamResponse): TaskStatus | undefined {
  return event.task !== undefined
    ? event.task.status
    : event.statusUpdate !== undefined
      ? event.statusUpdate.status
      : undefined;
}

/** Makes a function that prints each authorization request once. */
function authorizationTeller({ output }: Invocation): (status: TaskStatus | undefined) => void {
  let told: string | undefined;
  return (status) => {
    if (status === undefined || !asksForAuthorization(status)) return;
    const parts = status.message?.parts ?? [];
    const asked = parts.map((part) => (part.text !== undefined ? part.text : JSON.stringify(part))).join('\n');
    if (asked === told) return;
    told = asked;
    output.endProgress();
    output.note(`The agent asks for authorization:\n${asked || '(it does not say which)'}`);
    output.note('Waiting for authorization; Ctrl-C leaves the task running.');
  };
}
