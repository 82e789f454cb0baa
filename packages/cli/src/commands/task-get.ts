import { withAgent } from '../agent/with-agent.js';
import type { Invocation } from '../command-line/invocation.js';
import { warnOfState, writeTask, writeTrace } from '../output/task-text.js';
import { afterAuthorization, awaitsAuthorization } from '../task/authorization.js';
import { savesFileParts } from '../task/saved-files.js';
import { pollOptions, withWait } from '../task/waiting.js';

/** Prints a task; with `--wait`, once it has ended or waits for the user. */
export function run(invocation: Invocation): Promise<number> {
  const { args, settings, output } = invocation;
  const [id = ''] = args;
  const historyLength = settings.count('history');
  const request = { id, ...(historyLength !== undefined && { historyLength }) };
  return withAgent(
    invocation,
    (agent) =>
      withWait(invocation, agent.thread, async ({ signal }) => {
        const { client, thread } = agent;
        let task = await client.getTask(request, { signal });
        thread.learnTask(task);
        if (settings.isOn('wait') || awaitsAuthorization(invocation)) {
          const answered = thread.isOver ? task : await client.waitFor(id, { signal, ...pollOptions(invocation) });
          const last = await afterAuthorization(invocation, agent, { task: answered, signal });
          if (last !== task) task = await client.getTask(request, { signal });
          thread.learnTask(task);
        }
        output.endProgress();
        const saved = savesFileParts(invocation);
        saved.takeTask(task);
        if (output.json) output.document(task);
        else {
          writeTask(output, task, thread.resume);
          writeTrace(output, task, settings.text('trace-url'));
          saved.tell();
          warnOfState(output, thread);
        }
        return 0;
      }),
    { taskId: id },
  );
}
