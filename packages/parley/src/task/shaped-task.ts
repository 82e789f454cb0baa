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
  /** Own accessors of unread members, so that `{ ...task }` has them. All tasks share them. See `TaskList`. */
  static readonly #unread = (['status', 'artifacts', 'history', 'metadata'] as const).map((name) => ({
    name,
    accessor: {
      get(this: ShapedTask): unknown {
        const value: unknown = JSON.parse(this.#texts?.[name] as string);
        Object.defineProperty(this, name, { value, writable: true });
        return value;
      },
      enumerable: true,
      configurable: true,
    },
  }));
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
    // `unread` defines it.
    if (status !== undefined) this.status = status;
    if (artifacts !== undefined && artifacts.length > 0) this.artifacts = artifacts;
    if (history !== undefined && history.length > 0) this.history = history;
    if (metadata !== undefined) this.metadata = metadata;
    this.#texts = texts;
  }

  /** A task whose members are parsed at their first read. The texts must be JSON. */
  static unread(texts: TaskTexts): ShapedTask {
    const { id, contextId } = texts;
    const task = new ShapedTask({ id, contextId } as TaskMembers, texts);
    for (const { name, accessor } of ShapedTask.#unread) {
      if (texts[name] !== undefined) Object.defineProperty(task, name, accessor);
    }
    return task;
  }

  /** Parses the texts of a task. */
  static parse(texts: TaskTexts): ShapedTask {
    const { id, contextId } = texts;
    const status = JSON.parse(texts.status) as Task['status'];
    const artifacts = parseOptional<Task['artifacts']>(texts.artifacts);
    const history = parseOptional<Task['history']>(texts.history);
    return new ShapedTask(
      { id, contextId, status, artifacts, history, metadata: parseOptional(texts.metadata) },
      texts,
    );
  }

  /** The JSON of a task's members. */
  static textsOf(task: Task): MemberTexts {
    const isShaped = #texts in task;
    if (isShaped && task.#texts !== undefined) return task.#texts;
    const { status, artifacts, history, metadata } = task;
    const texts = {
      status: JSON.stringify(status),
      artifacts: artifacts?.length ? JSON.stringify(artifacts) : undefined,
      history: history?.length ? JSON.stringify(history) : undefined,
      metadata: metadata && JSON.stringify(metadata),
    };
    if (isShaped) task.#texts = texts;
    return texts;
  }

  /** A task as the JSON of its members. Undefined for a task of another class, which may have other members. */
  static wholeTexts(task: Task): TaskTexts | undefined {
    if (!(#texts in task)) return undefined;
    const { id, contextId } = task;
    return { id, contextId, ...ShapedTask.textsOf(task) };
  }

  /** A task as JSON of 1.0. */
  static textOf(task: Task): string {
    const texts = ShapedTask.wholeTexts(task);
    return texts === undefined ? JSON.stringify(task) : taskText(texts);
  }
}

/** A task as JSON of 1.0. */
export function taskText({ id, contextId, status, artifacts, history, metadata }: TaskTexts): string {
  let text = `{"id":${JSON.stringify(id)}`;
  if (contextId !== undefined) text += `,"contextId":${JSON.stringify(contextId)}`;
  text += `,"status":${status}`;
  if (artifacts !== undefined) text += `,"artifacts":${artifacts}`;
  if (history !== undefined) text += `,"history":${history}`;
  if (metadata !== undefined) text += `,"metadata":${metadata}`;
  return `${text}}`;
}

function parseOptional<T>(text: string | undefined): T | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as T);
}
