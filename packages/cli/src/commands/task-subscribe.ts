import type { StreamResponse } from 'parley-a2a';
import { withAgent } from '../agent/with-agent.js';
import type { Invocation } from '../command-line/invocation.js';
import { CliError } from '../failure/cli-error.js';
import { StreamText } from '../output/stream-text.js';
import { TaskNews } from '../output/task-news.js';
import { warnOfState, writeSummary, writeTask } from '../output/task-text.js';
import { awaitsAuthorization, followAuthorization } from '../task/authorization.js';
import { savesFileParts } from '../task/saved-files.js';
import { streams, withWait } from '../task/waiting.js';

/** Follows a task until it ends or waits for the user. With `--stream` prints each event, otherwise only the result. */
export function run(invocation: Invocation): Promise<number> {
  const { args, settings, output } = invocation;
  const [id = ''] = args;
  const live = settings.isOn('stream');
  return withAgent(
    invocation,
    (agent) =>
      withWait(invocation, agent.thread, async ({ signal }) => {
        const { client, thread } = agent;
        if (!streams(client))
          throw new CliError('UnsupportedOperationError', 'the agent does not stream', { hint: thread.follow });
        const text = new StreamText(output);
        const taskNews = new TaskNews();
        const saved = savesFileParts(invocation);
        const show = (event: StreamResponse) => {
          thread.learn(event);
          if (!live) return;
          if (output.json) output.line(event);
          const news = taskNews.of(event);
          if (!output.json) text.write(news);
          saved.takeEvent(news);
        };
        for await (const event of client.subscribeToTask(id, { signal })) {
          show(event);
          // A task that waits continues only after a reply or an authorization.
          if (thread.isOver && !(thread.asksForAuthorization && awaitsAuthorization(invocation))) break;
        }
        await followAuthorization(invocation, agent, { signal, show });
        text.end();
        output.endProgress();
        if (live && output.json) return 0;
        if (live) {
          writeSummary(output, thread);
          output.field('Resume', thread.resume);
        } else {
          const task = await client.getTask(id, { signal });
          saved.takeTask(task);
          if (output.json) output.document(task);
          else writeTask(output, task, thread.resume);
        }
        if (!output.json) {
          saved.tell();
          warnOfState(output, thread);
        }
        return 0;
      }),
    { taskId: id },
  );
}
