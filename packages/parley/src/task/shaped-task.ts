import type { Task } from '../model/task.js';

/** The separate members of a task. `undefined` and empty lists stand for absent members. */
export interface TaskMembers {
  readonly id: string;
  readonly contextId: string | undefined;
  readonly status: Task['status'];
  readonly artifacts?: Task['artifacts'];
  readonly history?: Task['history'];
  readonly metadata: Task['metadata'];
}

/** The JSON of the members that may be large. `undefined` for absent ones. */
export interface MemberTexts {
  readonly status: string;
  readonly artifacts: string | undefined;
  readonly history: string | undefined;
  readonly metadata: string | undefined;
}

/** A task as the JSON of its members. */
export interface TaskTexts extends MemberTexts, Pick<TaskMembers, 'id' | 'contextId'> {}

/**
 * A task with its members in the order of the specification. It is never changed, so its JSON is created at most once
 * and shared by stores and answers.
 */
export class ShapedTask implements Task {
  // Declared only: members are created in the order of assignment, and absent ones are not created.
  declare readonly id: string;
  declare readonly contextId?: string;
  declare readonly status: Task['status'];
  declare readonly artifacts?: NonNullable<Task['artifacts']>;
  declare readonly history?: NonNullable<Task['history']>;
  declare readonly metadata?: NonNullable<Task['metadata']>;
  #texts: MemberTexts | undefined;

  /** `texts`, if given, must be the texts of the members. */
  constructor({ id, contextId, status, artifacts, history, metadata }: TaskMembers, texts?: MemberTexts) {
    this.id = id;
    if (contextId !== undefined) this.contextId = contextId;
    this.status = status;
    if (artifacts !== undefined && artifacts.length > 0) this.artifacts = artifacts;
    if (history !== undefined && history.length > 0) this.history = history;
    if (metadata !== undefined) this.metadata = metadata;
    this.#texts = texts;
  }

  /** Parses the texts of a task. */
  static parse(texts: TaskTexts): ShapedTask {
    const { id, contextId } = texts;
    const status = JSON.parse(texts.status) as Task['status'];
    const artifacts = parsed<Task['artifacts']>(texts.artifacts);
    const history = parsed<Task['history']>(texts.history);
    return new ShapedTask({ id, contextId, status, artifacts, history, metadata: parsed(texts.metadata) }, texts);
  }

  /** The JSON of a task's members. */
  static textsOf(task: Task): MemberTexts {
    if (!(#texts in task)) return textsOf(task);
    task.#texts ??= textsOf(task);
    return task.#texts;
  }

  /** A task as JSON of 1.0. */
  static textOf(task: Task): string {
    if (!(#texts in task)) return JSON.stringify(task);
    const { id, contextId } = task;
    const { status, artifacts, history, metadata } = ShapedTask.textsOf(task);
    return taskText({ id, contextId, status, artifacts, history, metadata });
  }
}

/** A task as JSON of 1.0. */
export function taskText({ id, contextId, status, artifacts, history, metadata }: TaskTexts): string {
  const context = contextId === undefined ? '' : `,"contextId":${JSON.stringify(contextId)}`;
  const head = `{"id":${JSON.stringify(id)}${context},"status":${status}`;
  return `${head}${member('artifacts', artifacts)}${member('history', history)}${member('metadata', metadata)}}`;
}

function textsOf({ status, artifacts, history, metadata }: Task): MemberTexts {
  return {
    status: JSON.stringify(status),
    artifacts: listText(artifacts),
    history: listText(history),
    metadata: metadata && JSON.stringify(metadata),
  };
}

function listText(list: readonly unknown[] | undefined): string | undefined {
  return list === undefined || list.length === 0 ? undefined : JSON.stringify(list);
}

function parsed<T>(text: string | undefined): T | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

function member(name: string, text: string | undefined): string {
  return text === undefined ? '' : `,"${name}":${text}`;
}
