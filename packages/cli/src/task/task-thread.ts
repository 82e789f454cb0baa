import { isInterrupted, isTerminal, type StreamResponse, type Task, type TaskState, type TaskStatus } from 'parley-a2a';
import { stepIn } from '../output/task-text.js';
import { shellWord } from './shell-word.js';

/** The ids and the state of the task of a command, to find it again after any failure. */
export class TaskThread {
  /** Flags that select the agent, as given. */
  readonly #agentFlags: string;
  taskId: string | undefined;
  contextId: string | undefined;
  state: TaskState | undefined;
  /** The last status text of the agent, or its last step, on one line. */
  said: string | undefined;

  constructor(agentFlags: string, taskId?: string) {
    this.#agentFlags = agentFlags;
    this.taskId = taskId;
  }

  /** Updates the state from an event. */
  learn(event: StreamResponse): void {
    if (event.task !== undefined) {
      this.taskId = event.task.id;
      this.contextId = event.task.contextId;
      this.#learnStatus(event.task.status);
    } else if (event.statusUpdate !== undefined) {
      this.taskId = event.statusUpdate.taskId;
      this.contextId = event.statusUpdate.contextId;
      this.#learnStatus(event.statusUpdate.status);
      this.said = stepIn(event.statusUpdate.metadata) ?? this.said;
    } else if (event.artifactUpdate !== undefined) {
      this.taskId = event.artifactUpdate.taskId;
      this.contextId = event.artifactUpdate.contextId;
    } else this.contextId = event.message.contextId;
  }

  learnTask(task: Task): void {
    this.learn({ task });
  }

  #learnStatus({ state, message }: TaskStatus): void {
    this.state = state;
    const texts = message?.parts.map((part) => (part.text !== undefined ? part.text : '')) ?? [];
    // Long messages are cut before the search for line breaks.
    const said = texts
      .join('')
      .slice(0, 500)
      .split(/\s/)
      .filter((word) => word !== '')
      .join(' ');
    if (said !== '') this.said = said;
  }

  get isOver(): boolean {
    return this.state !== undefined && (isTerminal(this.state) || isInterrupted(this.state));
  }

  get asksForAuthorization(): boolean {
    return this.state === 'TASK_STATE_AUTH_REQUIRED';
  }

  /** The command that continues: with the task while it waits, or with a new task in the same context after its end. */
  get resume(): string | undefined {
    if (this.taskId !== undefined && this.state !== undefined && !isTerminal(this.state)) {
      return isInterrupted(this.state)
        ? `parley send${this.#agentFlags} --task-id ${shellWord(this.taskId)} "<reply>"`
        : this.follow;
    }
    if (this.contextId === undefined) return undefined;
    return `parley send${this.#agentFlags} --context-id ${shellWord(this.contextId)} "<message>"`;
  }

  /** The command that waits for the task again. */
  get follow(): string | undefined {
    if (this.taskId === undefined) return undefined;
    return `parley task get ${shellWord(this.taskId)} --wait${this.#agentFlags}`;
  }
}
