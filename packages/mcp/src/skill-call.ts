import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Logger, Part, SendMessageResponse, Task } from 'parley-a2a';
import type { Client, OutgoingMessage, TaskStream } from 'parley-a2a/client';
import { A2AError, ConnectionError, isWaitOver } from 'parley-a2a/kit';
import type { Clock } from 'parley-a2a/server';
import { oneLine } from './bounded-text.js';
import { type FormResult, formsOf, type QuestionForm } from './question-form.js';
import { TaskProgress } from './task-progress.js';
import { failedResult, resultOf } from './task-result.js';
import type { ToolArguments } from './tool-arguments.js';

/** The caller of a tool. */
export interface ToolCaller {
  /** Aborts if the caller cancels the call, and if its connection ends. */
  readonly signal: AbortSignal;
  /** True if an abort of the signal cancels the task. */
  readonly cancelsTask: () => boolean;
  /** Sends a progress notification. Absent: the caller wants none. */
  readonly progress: ((text: string) => Promise<void>) | undefined;
  /** Asks the user. Undefined is no answer. Absent: the caller has no way to ask. */
  readonly ask: ((form: QuestionForm) => Promise<FormResult | undefined>) | undefined;
  /** Headers that pass the trace of the caller on. */
  readonly trace: Readonly<Record<string, string>>;
}

/** The options of a `SkillCall`. */
interface SkillCallOptions {
  readonly agent: Client;
  readonly caller: ToolCaller;
  /** The longest wait for a turn of the agent, in ms. */
  readonly turnMs: number;
  readonly resultBytes: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Maximum number of questions to the user in one call. */
const QUESTIONS = 20;
/** Time limit for the cancel of a task or a read of its state, in ms. */
const LAST_CALL_MS = 5_000;
const ERROR_LENGTH = 1_000;

/** One call of a tool: sends its message to the agent, and passes questions of the agent to the user. */
export class SkillCall {
  readonly #options: SkillCallOptions;
  #taskId: string | undefined;

  constructor(options: SkillCallOptions) {
    this.#options = options;
  }

  /** Performs the call. Errors of the agent become a result with `isError`. */
  async result(input: ToolArguments): Promise<CallToolResult> {
    try {
      return resultOf(await this.answer(input), this.#options.resultBytes);
    } catch (error) {
      return failedResult(this.failureText(error));
    }
  }

  /** Performs the call, and throws the errors of the agent. After the time limit the task may still be working. */
  async answer({ message, taskId }: ToolArguments): Promise<SendMessageResponse> {
    const { caller } = this.#options;
    this.#taskId = taskId;
    let answer = await this.#turn(message);
    for (let asked = 0; asked < QUESTIONS && caller.ask !== undefined; asked++) {
      const open = formsOf(answer);
      if (open === undefined) break;
      const parts = await this.#ask(open.forms);
      if (parts.length === 0) break;
      answer = await this.#turn(open.reply(parts));
    }
    return answer;
  }

  /** The answers of the user to forms, up to the first unanswered one. */
  async #ask(forms: readonly QuestionForm[]): Promise<readonly Part[]> {
    const parts: Part[] = [];
    for (const form of forms.slice(0, QUESTIONS)) {
      const result = await this.#options.caller.ask?.(form);
      const answer = result === undefined ? [] : form.answer(result);
      if (answer.length === 0) break;
      parts.push(...answer);
    }
    return parts;
  }

  /** Sends the message without waiting for its turn. Without a message, reads the task. */
  async begin({ message, taskId }: ToolArguments): Promise<SendMessageResponse> {
    const { agent, caller, turnMs: timeoutMs } = this.#options;
    const headers = caller.trace;
    this.#taskId = taskId;
    if (message !== undefined)
      return agent.sendMessage({ message, configuration: { returnImmediately: true } }, { timeoutMs, headers });
    if (taskId === undefined) throw new A2AError('INVALID_PARAMS', 'A call needs a message or a task');
    return { task: await agent.getTask(taskId, { timeoutMs: LAST_CALL_MS, headers }) };
  }

  async #turn(message: OutgoingMessage | undefined): Promise<SendMessageResponse> {
    const { agent, caller, turnMs, clock, logger } = this.#options;
    const { signal } = caller;
    const over = new AbortController();
    const stopTimer = clock.after(turnMs, () => over.abort(new DOMException('The turn took too long', 'TimeoutError')));
    let stopWaiting = () => {};
    const onCancel = () => {
      // The agent may have received the message. Then its first event names the task to cancel.
      if (this.#taskId !== undefined) over.abort(signal.reason);
      else stopWaiting = clock.after(LAST_CALL_MS, () => over.abort(signal.reason));
    };
    signal.addEventListener('abort', onCancel, { once: true });
    try {
      signal.throwIfAborted();
      return await this.#answer(message, over.signal);
    } catch (error) {
      if (signal.aborted || !over.signal.aborted || this.#taskId === undefined) throw error;
      return { task: await agent.getTask(this.#taskId, { timeoutMs: LAST_CALL_MS }) };
    } finally {
      stopTimer();
      stopWaiting();
      signal.removeEventListener('abort', onCancel);
      if (signal.aborted && caller.cancelsTask() && this.#taskId !== undefined)
        await agent.cancelTask(this.#taskId, { timeoutMs: LAST_CALL_MS }).catch((error: unknown) => {
          logger.warn('a task of a canceled tool call was not canceled', { taskId: this.#taskId, error });
        });
    }
  }

  async #answer(message: OutgoingMessage | undefined, signal: AbortSignal): Promise<SendMessageResponse> {
    const { agent, caller } = this.#options;
    const options = { signal, headers: caller.trace };
    if (message !== undefined) {
      const direct = await this.#follow(agent.sendStreamingMessage({ message }, options));
      if (direct !== undefined) return direct;
    }
    if (this.#taskId === undefined)
      throw new A2AError('INVALID_AGENT_RESPONSE', 'The agent answered with no task and no message');
    const task = await this.#readTask(this.#taskId, signal);
    if (task !== undefined && isWaitOver(task.status.state)) return { task };
    if (message === undefined && agent.card.capabilities.streaming === true)
      await this.#follow(agent.subscribeToTask(this.#taskId, options));
    return { task: await agent.waitFor(this.#taskId, options) };
  }

  /** Reports the events of a stream. Returns a direct answer. */
  async #follow(stream: TaskStream): Promise<SendMessageResponse | undefined> {
    const { caller, clock } = this.#options;
    const progress = caller.progress && new TaskProgress(caller.progress, clock);
    try {
      for await (const event of stream) {
        this.#taskId = stream.taskId ?? this.#taskId;
        caller.signal.throwIfAborted();
        if (event.message !== undefined) return event;
        await progress?.take(event);
        if (stream.isWaiting) break;
      }
      return undefined;
    } finally {
      await progress?.end();
    }
  }

  /** Undefined if the connection is lost: the wait then reconnects. */
  async #readTask(id: string, signal: AbortSignal): Promise<Task | undefined> {
    try {
      return await this.#options.agent.getTask(id, { signal });
    } catch (error) {
      if (error instanceof ConnectionError) return undefined;
      throw error;
    }
  }

  /** The text of an error for the model of the client. */
  failureText(error: unknown): string {
    const { agent, logger, turnMs } = this.#options;
    const name = oneLine(agent.card.name, 200);
    const task = this.#taskId === undefined ? '' : ` Its task is ${JSON.stringify(this.#taskId)}.`;
    if (error instanceof ConnectionError) return `The agent ${name} cannot be reached.${task}`;
    if (error instanceof A2AError) return `${error.code}: ${oneLine(error.message, ERROR_LENGTH)}${task}`;
    if (error instanceof DOMException && error.name === 'TimeoutError')
      return `The agent ${name} did not answer within ${turnMs} ms.${task}`;
    if (!this.#options.caller.signal.aborted) logger.error('a tool call failed', { error });
    return `The call failed.${task}`;
  }
}
