import type { SendMessageResponse, StreamResponse, Task } from 'parley-a2a';
import type { SendInput } from 'parley-a2a/client';
import { type CalledAgent, withAgent } from '../agent/with-agent.js';
import { ConversationText } from '../chat/conversation-text.js';
import type { Invocation } from '../command-line/invocation.js';
import { usageError } from '../failure/cli-error.js';
import { sendRequest, sentRequest } from '../message/send-request.js';
import { StreamText } from '../output/stream-text.js';
import { TaskNews } from '../output/task-news.js';
import { tellEnd, warnOfState, writeMessage, writeSummary, writeTask } from '../output/task-text.js';
import { afterAuthorization, followAuthorization, stopsStream } from '../task/authorization.js';
import { savesFileParts } from '../task/saved-files.js';
import { announce, pollOptions, streams, withWait } from '../task/waiting.js';

type Request = Exclude<SendInput, string>;

/** Sends a message and waits for the result; with `--stream` prints each event. */
export async function run(invocation: Invocation): Promise<number> {
  const { settings } = invocation;
  // Checks the command line before the first call.
  const request = sendRequest(invocation);
  const isAsync = settings.either('async', 'wait') === 'async';
  const isStream = settings.isOn('stream');
  for (const other of ['stream', 'await-auth'] as const)
    if (isAsync && settings.isOn(other) && settings.findSetting('async')?.source === 'flag')
      throw usageError(`--async and --${other} exclude each other`);
  const mode = isStream || isRead(invocation) ? stream : isAsync ? returnAtOnce : ask;
  return withAgent(invocation, async (agent) =>
    mode(invocation, agent, await sentRequest(request, agent.client, invocation)),
  );
}

async function returnAtOnce(
  invocation: Invocation,
  { client, thread }: CalledAgent,
  request: Request,
): Promise<number> {
  return withWait(invocation, thread, async ({ signal }) => {
    const answer = await client.sendMessage(immediate(request), { signal });
    thread.learn(answer);
    return finish(invocation, thread, answer);
  });
}

/** True if the answer is printed as in a conversation: at a terminal, without events and details. */
function isRead({ output, settings }: Invocation): boolean {
  const isAsync = settings.either('async', 'wait') === 'async';
  return output.isRead && !output.verbose && !settings.isOn('stream') && !isAsync;
}

/** Prints the id of the task before waiting for it, so that it is known after a failure. */
async function ask(invocation: Invocation, agent: CalledAgent, request: Request): Promise<number> {
  const { client, thread } = agent;
  return withWait(invocation, thread, async ({ signal }) => {
    const taskId = taskIdOf(request);
    if (taskId !== undefined) return continueTask(invocation, agent, { request, taskId, signal });
    const first = await client.sendMessage(immediate(request), { signal });
    thread.learn(first);
    if (first.task === undefined) return finish(invocation, thread, first);
    let { task } = first;
    if (!thread.isOver) {
      announce(invocation, thread);
      task = await client.waitFor(task.id, { signal, ...pollOptions(invocation) });
      thread.learnTask(task);
    }
    task = await afterAuthorization(invocation, agent, { task, signal });
    return finish(invocation, thread, { task: withHistory(task, request) });
  });
}

/** Waits for the turn of a reply. With `returnImmediately`, the response may contain the task before the reply. */
async function continueTask(
  invocation: Invocation,
  agent: CalledAgent,
  { request, taskId, signal }: { readonly request: Request; readonly taskId: string; readonly signal: AbortSignal },
): Promise<number> {
  const { client, thread } = agent;
  thread.taskId = taskId;
  const answer = await client.ask(request, { signal, ...pollOptions(invocation) });
  thread.learn(answer);
  if (answer.task === undefined) return finish(invocation, thread, answer);
  const task = await afterAuthorization(invocation, agent, { task: answer.task, signal });
  return finish(invocation, thread, { task: withHistory(task, request) });
}

async function stream(invocation: Invocation, agent: CalledAgent, request: Request): Promise<number> {
  const { output } = invocation;
  const { client, thread } = agent;
  if (!streams(client)) {
    if (!output.json && !isRead(invocation))
      output.note('The agent has no streaming: the tool polls the task instead.');
    return lookInstead(invocation, agent, request);
  }
  return withWait(invocation, thread, async ({ signal }) => {
    const events = isRead(invocation) ? undefined : new StreamText(output);
    const text = events ?? new ConversationText(output);
    const taskNews = new TaskNews();
    await taskNews.begin(taskIdOf(request), (id) => client.getTask(id, { signal }));
    const saved = savesFileParts(invocation);
    let last: StreamResponse | undefined;
    const show = (event: StreamResponse) => {
      thread.learn(event);
      last = event;
      if (output.json) output.line(event);
      const news = taskNews.of(event);
      if (!output.json) text.write(news);
      saved.takeEvent(news);
    };
    try {
      const stream = client.sendStreamingMessage(request, { signal });
      for await (const event of stream) {
        show(event);
        if (stopsStream(invocation, stream)) break;
      }
      await followAuthorization(invocation, agent, { signal, show });
    } finally {
      text.end();
    }
    if (output.json) return 0;
    if (events === undefined) {
      saved.tell();
      tellEnd(output, thread);
      return 0;
    }
    if (last !== undefined && last.message !== undefined) return 0;
    const { taskId, contextId, state } = thread;
    // A terminal has just printed the last state above.
    writeSummary(output, { taskId, contextId, state: output.isRead && events.state === state ? undefined : state });
    saved.tell();
    output.field('Resume', thread.resume);
    warnOfState(output, thread);
    return 0;
  });
}

/** Replaces `--stream` for agents without streaming: prints the task now, and once it has ended. */
async function lookInstead(invocation: Invocation, agent: CalledAgent, request: Request): Promise<number> {
  const { output } = invocation;
  const { client, thread } = agent;
  return withWait(invocation, thread, async ({ signal }) => {
    const taskNews = new TaskNews();
    await taskNews.begin(taskIdOf(request), (id) => client.getTask(id, { signal }));
    const first = await (taskIdOf(request) !== undefined
      ? client.ask(request, { signal, ...pollOptions(invocation) })
      : client.sendMessage(immediate(request), { signal }));
    thread.learn(first);
    if (first.task === undefined) return finish(invocation, thread, first, taskNews);
    let { task } = first;
    if (!thread.isOver) {
      if (output.json) output.line(first);
      else announce(invocation, thread);
      task = await client.waitFor(task.id, { signal, ...pollOptions(invocation) });
      thread.learnTask(task);
    }
    task = await afterAuthorization(invocation, agent, { task, signal });
    return finish(invocation, thread, { task }, taskNews);
  });
}

/** Prints the answer. `taskNews`: as with `--stream`, text output omits earlier turns. */
function finish(
  invocation: Invocation,
  thread: CalledAgent['thread'],
  answer: SendMessageResponse,
  taskNews?: TaskNews,
): number {
  const { output } = invocation;
  output.endProgress();
  const saved = savesFileParts(invocation);
  const task = answer.task !== undefined ? (taskNews?.ofTask(answer.task) ?? answer.task) : undefined;
  if (task !== undefined) saved.takeTask(task);
  if (output.json) {
    if (taskNews !== undefined) output.line(answer);
    else output.document(answer);
    return 0;
  }
  if (isRead(invocation)) {
    const text = new ConversationText(output);
    text.write(task === undefined ? answer : { task });
    text.end();
    saved.tell();
    tellEnd(output, thread);
    return 0;
  }
  if (task !== undefined) writeTask(output, task, thread.resume);
  else if (answer.message !== undefined) writeMessage(output, answer.message, thread.resume);
  saved.tell();
  warnOfState(output, thread);
  return 0;
}

function taskIdOf({ message }: Request): string | undefined {
  return (message as { readonly taskId?: string }).taskId;
}

function immediate(request: Request): Request {
  return { ...request, configuration: { returnImmediately: true, ...request.configuration } };
}

function withHistory(task: Task, { configuration }: Request): Task {
  const { historyLength } = configuration ?? {};
  if (historyLength === undefined || task.history === undefined) return task;
  return { ...task, history: historyLength === 0 ? [] : task.history.slice(-historyLength) };
}
