import { cloneJson } from '../model/clone-json.js';
import type { Task } from '../model/task.js';
import { type MemberTexts, ShapedTask } from './shaped-task.js';

const ACCESSOR = { enumerable: true, configurable: true } as const;
const PLAIN = { ...ACCESSOR, writable: true } as const;

/**
 * A copy of a task for code that may change it. Each large member is copied at its first read, so that an unread member
 * costs nothing. The original never changes.
 */
export class HandedTask implements Task {
  declare readonly id: string;
  declare readonly contextId?: string;
  declare readonly status: Task['status'];
  declare readonly artifacts?: NonNullable<Task['artifacts']>;
  declare readonly history?: NonNullable<Task['history']>;
  declare readonly metadata?: NonNullable<Task['metadata']>;
  readonly #origin: Task;

  constructor(origin: Task) {
    this.#origin = origin;
    for (const [name, value] of Object.entries(origin) as [string, unknown][]) {
      if (typeof value === 'object') this.#lend(name, value);
      else Object.defineProperty(this, name, { ...PLAIN, value });
    }
  }

  /** Returns the task as JSON of 1.0. Members that were not read use the text of the original. */
  static textOf(task: Task): string {
    if (!(#origin in task)) return ShapedTask.textOf(task);
    const texts = ShapedTask.textsOf(task.#origin);
    const members = Object.entries(Object.getOwnPropertyDescriptors(task)).map(([name, { get, value }]) => {
      const text = get === undefined ? JSON.stringify(value) : texts[name as keyof MemberTexts];
      return text === undefined ? '' : `${JSON.stringify(name)}:${text}`;
    });
    return `{${members.filter((member) => member !== '').join()}}`;
  }

  /** Defines an own accessor, so that `{ ...task }` and JSON treat it like a plain member. */
  #lend(name: string, value: unknown): void {
    const keep = (own: unknown) => {
      Object.defineProperty(this, name, { ...PLAIN, value: own });
      return own;
    };
    Object.defineProperty(this, name, { ...ACCESSOR, get: () => keep(cloneJson(value)), set: keep });
  }
}
