import type { Part, StreamResponse } from 'parley-a2a';
import type { CalledAgent } from '../agent/with-agent.js';
import type { Invocation } from '../command-line/invocation.js';
import { StreamText } from '../output/stream-text.js';
import type { TaskNews } from '../output/task-news.js';
import { warnOfState, writeSummary } from '../output/task-text.js';
import { stopsStream } from '../task/authorization.js';
import { pollOptions, showProgress, streams } from '../task/waiting.js';
import { ConversationText } from './conversation-text.js';

const CANCEL_LIMIT_MS = 10_000;

/** One message of a conversation, with its answer. */
export class Turn {
  readonly #invocation: Invocation;
  readonly #agent: CalledAgent;
  readonly #news: TaskNews;
  readonly #stop = new AbortController();
  #canceling: Promise<void> | undefined;

  constructor(invocation: Invocation, agent: CalledAgent, news: TaskNews) {
    this.#invocation = invocation;
    this.#agent = agent;
    this.#news = news;
  }

  /** True if cancellation was requested. */
  get isCanceling(): boolean {
    return this.#canceling !== undefined;
  }

  /** Sends the parts. `taskId` continues a waiting task. A canceled turn ends without an error. */
  async run(parts: readonly Part[], taskId: string | undefined): Promise<void> {
    const { output } = this.#invocation;
    const { thread } = this.#agent;
    const { contextId } = thread;
    thread.taskId = taskId;
    thread.state = undefined;
    thread.said = undefined;
    const message = {
      parts,
      ...(contextId !== undefined && { contextId }),
      ...(taskId !== undefined && { taskId }),
    };
    const shown = output.isRead ? new ConversationText(output) : new StreamText(output);
    const progress = showProgress(output, thread, 'Ctrl-C cancels');
    try {
      await this.#follow(message, (event) => {
        thread.learn(event);
        if (output.json) output.line(event);
        else shown.write(this.#news.of(event));
      });
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    } finally {
      progress.end();
      if (!output.json) shown.end();
    }
    // The stream may end before the answer to CancelTask arrives.
    if (!this.#stop.signal.aborted) await this.#canceling;
    this.#tellEnd();
  }

  /** Cancels the task, or the call while the task is unknown. */
  cancel(): Promise<void> {
    this.#canceling ??= this.#cancel();
    return this.#canceling;
  }

  async #cancel(): Promise<void> {
    const { client, thread, failure } = this.#agent;
    const { output } = this.#invocation;
    if (thread.taskId === undefined) {
      this.leave();
      output.note('Left before the agent named a task; the agent may continue to work.');
      return;
    }
    try {
      const { signal } = this.#stop;
      thread.learnTask(await client.cancelTask(thread.taskId, { signal, timeoutMs: CANCEL_LIMIT_MS }));
      output.note('Canceled.');
      this.leave();
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const { code, message } = failure(error);
      output.note(`The task is not canceled: ${code}: ${message}`);
    }
  }

  /** Stops following. The task continues. */
  leave(): void {
    this.#stop.abort();
  }

  async #follow(message: object, show: (event: StreamResponse) => void): Promise<void> {
    const { client, thread } = this.#agent;
    const request = { message: message as { readonly parts: readonly Part[] } };
    const timeoutMs = this.#invocation.settings.duration('timeout');
    const limits = timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)];
    const signal = AbortSignal.any([this.#stop.signal, ...limits]);
    await this.#news.begin(thread.taskId, (id) => client.getTask(id, { signal }));
    if (!streams(client)) {
      const options = { signal, ...pollOptions(this.#invocation) };
      // With `returnImmediately`, the response may contain the task before the reply. So the client waits.
      const isFollowUp = thread.taskId !== undefined;
      const first = await (isFollowUp
        ? client.ask(request, options)
        : client.sendMessage({ ...request, configuration: { returnImmediately: true } }, { signal }));
      thread.learn(first);
      if (first.message !== undefined || thread.isOver) show(first);
      else show({ task: await client.waitFor(first.task.id, options) });
      return;
    }
    const stream = client.sendStreamingMessage(request, { signal });
    for await (const event of stream) {
      show(event);
      // The agent may keep the stream open until authorization is given. The conversation must read the next line
      // before that.
      if (stopsStream(this.#invocation, stream)) break;
    }
  }

  #tellEnd(): void {
    const { output } = this.#invocation;
    const { thread, client } = this.#agent;
    if (output.json) return;
    const tellsIds = output.isRead ? output.verbose : streams(client);
    if (thread.state !== undefined && tellsIds) writeSummary(output, thread);
    // A person has already seen the question.
    if (!output.isRead || thread.state !== 'TASK_STATE_INPUT_REQUIRED') warnOfState(output, thread);
  }
}
