import type { Task } from '../model/task.js';

/** The members of a task as they are kept apart; `undefined` and empty lists are members that are absent. */
export interface TaskMembers {
  readonly id: string;
  readonly contextId: string | undefined;
  readonly status: Task['status'];
  readonly artifacts?: Task['artifacts'];
  readonly history?: Task['history'];
  readonly metadata: Task['metadata'];
}

/** The JSON of the members that may be large; `undefined` for those that are absent. */
export interface MemberTexts {
  readonly status: string;
  readonly artifacts: string | undefined;
  readonly history: string | undefined;
  readonly metadata: string | undefined;
}

/**
 * A task with the members that it has, in the order of the specification. Plain data that nobody changes, so its JSON is made
 * at most once, and shared by what stores it and what shows it.
 */
export class ShapedTask implements Task {
  // Declared only: members come in the order in which they are set, and those that are absent are not there.
  declare readonly id: string;
  declare readonly contextId?: string;
  declare readonly status: Task['status'];
  declare readonly artifacts?: NonNullable<Task['artifacts']>;
  declare readonly history?: NonNullable<Task['history']>;
  declare readonly metadata?: NonNullable<Task['metadata']>;
  #texts: MemberTexts | undefined;

  /** `texts` where they are known: they must be those of the members. */
  constructor({ id, contextId, status, artifacts, history, metadata }: TaskMembers, texts?: MemberTexts) {
    this.id = id;
    if (contextId !== undefined) this.contextId = contextId;
    this.status = status;
    if (artifacts !== undefined && artifacts.length > 0) this.artifacts = artifacts;
    if (history !== undefined && history.length > 0) this.history = history;
    if (metadata !== undefined) this.metadata = metadata;
    this.#texts = texts;
  }

  /** The task of these texts. */
  static parse(ids: Pick<TaskMembers, 'id' | 'contextId'>, texts: MemberTexts): ShapedTask {
    const status = JSON.parse(texts.status) as Task['status'];
    const artifacts = parsed<Task['artifacts']>(texts.artifacts);
    const history = parsed<Task['history']>(texts.history);
    return new ShapedTask({ ...ids, status, artifacts, history, metadata: parsed(texts.metadata) }, texts);
  }

  /** The JSON of a task's members. */
  static textsOf(task: Task): MemberTexts {
    if (!(#texts in task)) return textsOf(task);
    task.#texts ??= textsOf(task);
    return task.#texts;
  }

  /** A task as v1.0 JSON. */
  static textOf(task: Task): string {
    if (!(#texts in task)) return JSON.stringify(task);
    const { status, artifacts, history, metadata } = ShapedTask.textsOf(task);
    const context = task.contextId === undefined ? '' : `,"contextId":${JSON.stringify(task.contextId)}`;
    const head = `{"id":${JSON.stringify(task.id)}${context},"status":${status}`;
    return `${head}${member('artifacts', artifacts)}${member('history', history)}${member('metadata', metadata)}}`;
  }
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
