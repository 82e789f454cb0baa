import { signal } from '@preact/signals';
import type { Part, Task } from 'parley-a2a';
import { type Agent, agents, failureOf, needsSignIn } from './agents.js';

/** A task that waits for its user. */
export interface WaitingTask {
  readonly agent: Agent;
  readonly task: Task;
}

/** The waiting tasks of all agents. */
interface WaitingTasks {
  /** Undefined while they load. The longest wait first. */
  readonly tasks: readonly WaitingTask[] | undefined;
  /** Agents that need a sign-in before they list tasks. */
  readonly locked: readonly Agent[];
  /** Texts about agents that could not be reached. */
  readonly failures: readonly string[];
}

const POLL_MS = 2_000;
const STATES = ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'] as const;
/** Maximum number of tasks per agent and state. More are on its own page. */
const MOST_TASKS = 50;

/** The tasks that wait for the user, kept current while the page is visible. */
export class WaitingWatch {
  readonly state = signal<WaitingTasks>({ tasks: undefined, locked: [], failures: [] });
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor() {
    void this.#poll();
  }

  /** Ends the polling. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Sends an answer as `sendAnswer` does. */
  async answer({ agent, task }: WaitingTask, parts: readonly Part[]): Promise<void> {
    await sendAnswer(agent, task, parts);
    await this.#read();
  }

  async #poll(): Promise<void> {
    if (!document.hidden) await this.#read();
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#poll(), POLL_MS);
  }

  async #read(): Promise<void> {
    const all = agents.value ?? [];
    const locked = all.filter(needsSignIn);
    const failures: string[] = [];
    const lists = await Promise.all(
      all
        .filter((agent) => !locked.includes(agent))
        .map((agent) =>
          waitingOf(agent).catch((error: unknown) => {
            failures.push(`${agent.card.name} could not be asked: ${failureOf(agent, error)}`);
            return [];
          }),
        ),
    );
    const since = ({ task }: WaitingTask) => task.status.timestamp ?? '';
    const tasks = lists.flat().sort((one, other) => (since(one) < since(other) ? -1 : 1));
    if (!this.#isClosed) this.state.value = { tasks, locked, failures };
  }
}

async function waitingOf(agent: Agent): Promise<readonly WaitingTask[]> {
  const client = await agent.client();
  const lists = await Promise.all(
    STATES.map((status) => client.listTasks({ status, pageSize: MOST_TASKS, historyLength: 0 })),
  );
  return lists.flatMap(({ tasks }) => tasks).map((task) => ({ agent, task }));
}

/**
 * Sends an answer to a waiting task, which then continues by itself.
 * @throws Error if the agent refuses the answer.
 */
export async function sendAnswer(
  agent: Agent,
  { id, contextId }: { readonly id: string; readonly contextId?: string | undefined },
  parts: readonly Part[],
): Promise<void> {
  const context = contextId === undefined ? {} : { contextId };
  try {
    const client = await agent.client();
    await client.sendMessage({
      message: { messageId: crypto.randomUUID(), parts, taskId: id, ...context },
      configuration: { returnImmediately: true },
    });
  } catch (error) {
    throw new Error(`The answer was not sent: ${failureOf(agent, error)}`, { cause: error });
  }
}
