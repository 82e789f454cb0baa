import type { Task } from '../model/task.js';
import type { ListTasksResponse } from '../model/task-requests.js';
import { HandedTask } from './handed-task.js';
import { ShapedTask, type TaskTexts, taskText } from './shaped-task.js';
import { trimTask } from './trim-task.js';

/** The page size if the caller names none (Spec §3.1.4). */
export const DEFAULT_PAGE_SIZE = 50;

/** A page of tasks. `texts`: the JSON of the same tasks, if the storage has it. */
interface ListedPage {
  readonly tasks: readonly { readonly task: Task }[];
  readonly texts?: readonly TaskTexts[];
}

/** The parts of a task that a list includes. */
interface ListExtent {
  readonly historyLength: number;
  readonly includeArtifacts: boolean;
}

/** The response of a list. Tasks that the storage has as text are parsed only if code reads them. */
export class TaskList implements ListTasksResponse {
  static readonly #tasks: PropertyDescriptor & ThisType<TaskList> = {
    get() {
      this.#trimmed ??= this.#page.tasks.map(({ task }) => trimTask(task, this.#extent));
      return this.#trimmed;
    },
    enumerable: true,
    configurable: true,
  };
  declare readonly tasks: readonly Task[];
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
  readonly #page: ListedPage;
  readonly #extent: ListExtent;
  #trimmed: readonly Task[] | undefined;

  constructor(page: ListedPage, extent: ListExtent, cursor: Omit<ListTasksResponse, 'tasks'>) {
    this.#page = page;
    this.#extent = extent;
    // An own accessor, so that `{ ...list }` has the tasks. All lists share one function: V8 keeps a getter made for
    // one object, and with it the page, until a full garbage collection.
    Object.defineProperty(this, 'tasks', TaskList.#tasks);
    this.nextPageToken = cursor.nextPageToken;
    this.pageSize = cursor.pageSize;
    this.totalSize = cursor.totalSize;
  }

  /** The tasks of a list as JSON of 1.0. */
  static textsOf(list: ListTasksResponse): readonly string[] {
    const texts = #page in list ? list.#texts() : undefined;
    return texts ?? list.tasks.map(HandedTask.textOf);
  }

  /** Returns undefined if a task has no text, or may have more than the list includes. */
  #texts(): readonly string[] | undefined {
    const { historyLength, includeArtifacts } = this.#extent;
    const lines: string[] = [];
    for (const texts of this.#page.texts ?? this.#page.tasks.map(({ task }) => ShapedTask.wholeTexts(task))) {
      if (texts === undefined || !holdsAtMost(texts.history, historyLength)) return undefined;
      if (texts.artifacts !== undefined && !includeArtifacts) return undefined;
      lines.push(taskText(texts));
    }
    return lines;
  }
}

/**
 * Each message has an id, so a text with few ids has few messages, and a short text as well. Metadata and data may
 * contain the name too.
 */
function holdsAtMost(history: string | undefined, messages: number): boolean {
  if (history === undefined || history.length < messages * SHORTEST) return true;
  let left = messages;
  for (let at = history.indexOf(ID); at !== -1; at = history.indexOf(ID, at + 1)) {
    left -= 1;
    if (left < 0) return false;
  }
  return true;
}

const ID = '"messageId":';
/** The length of `{"messageId":"","role":"ROLE_USER","parts":[]}`. */
const SHORTEST = 46;
