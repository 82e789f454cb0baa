/**
 * The reason why a write is refused. `taken`: the id is in use. `ended`: the task has ended. `running`: its agent runs
 * a turn. `changing`: other writers kept changing the task.
 */
export type TaskStoreRefusal = 'taken' | 'ended' | 'running' | 'changing';

const MESSAGES: { readonly [Refusal in TaskStoreRefusal]: string } = {
  taken: 'there is a task of this id already',
  ended: 'the task has ended and never changes again',
  running: 'the agent is working on the task',
  changing: 'the task kept changing while it was written',
};

/** A task store refused a write and wrote nothing. Local: thrown to the application that called. */
export class TaskStoreError extends Error {
  override readonly name = 'TaskStoreError';
  readonly taskId: string;
  readonly reason: TaskStoreRefusal;

  constructor(taskId: string, reason: TaskStoreRefusal) {
    super(`Task ${taskId}: ${MESSAGES[reason]}`);
    this.taskId = taskId;
    this.reason = reason;
  }
}
