import { createInterface } from 'node:readline';
import { isInterrupted } from 'parley-a2a';
import { type CalledAgent, withAgent } from '../agent/with-agent.js';
import type { Invocation } from '../command-line/invocation.js';
import { StreamText } from '../output/stream-text.js';
import { warnOfState, writeHead } from '../output/task-text.js';
import { stopsStream } from '../task/authorization.js';
import { pollOptions, streams } from '../task/waiting.js';

/** Talks to an agent line by line; the context goes on from turn to turn, and the task while it waits for a reply. */
export function run(invocation: Invocation): Promise<number> {
  const { settings, output } = invocation;
  const person = process.stdin.isTTY === true;
  return withAgent(invocation, async (agent) => {
    const { thread, client } = agent;
    thread.contextId = settings.text('context-id');
    let taskId = settings.text('task-id');
    if (person) output.note(`${client.card.name}. An empty line or Ctrl-D ends the conversation.`);
    const lines = createInterface({ input: process.stdin, ...(person && { output: process.stderr, prompt: '> ' }) });
    if (person) lines.prompt();
    for await (const line of lines) {
      if (line.trim() === '') {
        if (person) break;
        continue;
      }
      await turn(invocation, agent, { text: line, taskId });
      taskId = thread.state !== undefined && isInterrupted(thread.state) ? thread.taskId : undefined;
      if (person) lines.prompt();
    }
    lines.close();
    if (thread.resume !== undefined && !output.json) output.note(`Resume: ${thread.resume}`);
    return 0;
  });
}

async function turn(
  invocation: Invocation,
  { client, thread }: CalledAgent,
  { text, taskId }: { readonly text: string; readonly taskId: string | undefined },
): Promise<void> {
  const { output } = invocation;
  const { contextId } = thread;
  const message = {
    parts: [{ text }],
    ...(contextId !== undefined && { contextId }),
    ...(taskId !== undefined && { taskId }),
  };
  thread.state = undefined;
  const shown = new StreamText(output);
  const show = (event: Parameters<StreamText['write']>[0]) => {
    thread.learn(event);
    if (output.json) output.line(event);
    else shown.write(event);
  };
  if (streams(client)) {
    for await (const event of client.sendStreamingMessage({ message })) {
      show(event);
      // The agent may keep the stream open until it has been given; here the next line is waited for.
      if (stopsStream(invocation, event)) break;
    }
  } else show(await client.sendAndWait({ message }, pollOptions(invocation)));
  shown.end();
  if (output.json) return;
  if (thread.state !== undefined && streams(client)) writeHead(output, thread);
  warnOfState(output, thread);
}
