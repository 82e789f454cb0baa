import type { JsonObject } from 'parley-a2a';
import { withAgent } from '../agent/with-agent.js';
import type { Invocation } from '../command-line/invocation.js';
import { writeTask } from '../output/task-text.js';

/** Cancels a task. Canceling it again changes nothing. */
export function run(invocation: Invocation): Promise<number> {
  const { args, settings, output } = invocation;
  const [id = ''] = args;
  const metadata = settings.object('metadata') as JsonObject | undefined;
  const timeoutMs = settings.duration('timeout');
  const options = { ...(metadata !== undefined && { metadata }), ...(timeoutMs !== undefined && { timeoutMs }) };
  return withAgent(
    invocation,
    async ({ client, thread }) => {
      const task = await client.cancelTask(id, options);
      thread.learnTask(task);
      if (output.json) output.document(task);
      else writeTask(output, task, thread.resume);
      return 0;
    },
    { taskId: id },
  );
}
