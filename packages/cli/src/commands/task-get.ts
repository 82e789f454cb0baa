import { withAgent } from '../agent/with-agent.js';
import type { Invocation } from '../command-line/invocation.js';
import { warnOfState, writeTask } from '../output/task-text.js';
import { savesFileParts } from '../task/saved-files.js';
import { pollOptions, waiting } from '../task/waiting.js';

/** Shows a task as it is, or with `--wait` once it has ended or asks for something. */
export function run(invocation: Invocation): Promise<number> {
  const { args, settings, output } = invocation;
  const [id = ''] = args;
  const historyLength = settings.count('history');
  const request = { id, ...(historyLength !== undefined && { historyLength }) };
  return withAgent(
    invocation,
    ({ client, thread }) =>
      waiting(invocation, thread, async ({ signal }) => {
        let task = await client.getTask(request, { signal });
        thread.learnTask(task);
        if (settings.isOn('wait') && !thread.isOver) {
          await client.waitFor(id, { signal, ...pollOptions(invocation) });
          task = await client.getTask(request, { signal });
          thread.learnTask(task);
        }
        output.endProgress();
        const saved = savesFileParts(invocation);
        saved.takeTask(task);
        if (output.json) output.document(task);
        else {
          writeTask(output, task, thread.resume);
          saved.tell();
          warnOfState(output, thread.state);
        }
        return 0;
      }),
    id,
  );
}
