import { A2AError, type StreamResponse, type Task, type TaskStatus } from 'parley-a2a';
import type { CalledAgent } from '../agent/with-agent.js';
import type { Invocation } from '../command-line/invocation.js';
import { pollOptions, streams } from './waiting.js';

interface WaitingTask {
  readonly task: Task;
  readonly signal: AbortSignal;
}

/** Whether waiting goes on while a task asks for authorization, which is given outside of this tool (spec §7.6). */
export function awaitsAuthorization({ settings }: Invocation): boolean {
  return settings.isOn('await-auth');
}

/**
 * The task as it is; with `--await-auth`, where it asks for authorization, as it is once it has ended or asks for something else. What the
 * agent asks is told on stderr.
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
      // Agents differ in which streams they refuse; looking is left.
      if (!(error instanceof A2AError)) throw error;
    }
  }
  const later = await client.waitFor(task.id, { signal, ...pollOptions(invocation), until: 'input' });
  thread.learnTask(later);
  return later;
}

/** What becomes of a task whose stream was closed while it asked for authorization, where that is waited for. */
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

/** Whether an event stops what follows a stream: without `--await-auth` a request for authorization does. */
export function stopsStream(invocation: Invocation, event: StreamResponse): boolean {
  return !awaitsAuthorization(invocation) && 'statusUpdate' in event && asksForAuthorization(event.statusUpdate.status);
}

function asksForAuthorization({ state }: TaskStatus): boolean {
  return state === 'TASK_STATE_AUTH_REQUIRED';
}

function statusOf(event: StreamResponse): TaskStatus | undefined {
  return 'task' in event ? event.task.status : 'statusUpdate' in event ? event.statusUpdate.status : undefined;
}

/** Tells what a person has to do, each request once. */
function authorizationTeller({ output }: Invocation): (status: TaskStatus | undefined) => void {
  let told: string | undefined;
  return (status) => {
    if (status === undefined || !asksForAuthorization(status)) return;
    const parts = status.message?.parts ?? [];
    const asked = parts.map((part) => ('text' in part ? part.text : JSON.stringify(part))).join('\n');
    if (asked === told) return;
    told = asked;
    output.endProgress();
    output.note(`The agent asks for authorization:\n${asked || '(it does not say which)'}`);
    output.note('Waiting until it has been given; Ctrl-C leaves the task running.');
  };
}
