import type { Artifact } from '../model/artifact.js';
import { cloneJson } from '../model/clone-json.js';
import type { Message } from '../model/message.js';
import type { Part } from '../model/part.js';
import type { Task } from '../model/task.js';
import { isInterrupted, isTerminal } from '../model/task-state.js';
import type { Scope } from '../store/task-key.js';
import type { TaskStorage } from '../store/task-storage.js';
import { artifactBytes, messageBytes } from '../task/event-bytes.js';

/** The limits of a conversation. The oldest entries are left out. */
export interface ConversationOptions {
  /** Maximum number of entries, 1 to 1,000. Default: 100. */
  readonly limit?: number;
  /**
   * Maximum bytes of all entries together, estimated as JSON. Default: 256 KiB. The limit `referenceBytes` is the
   * highest allowed value.
   */
  readonly maxBytes?: number;
}

/** One message or one artifact of a conversation. */
export interface ConversationEntry {
  readonly role: 'user' | 'agent';
  /** The text parts, joined by a newline; "" if there are none. */
  readonly text: string;
  readonly parts: readonly Part[];
  readonly taskId: string;
  /** The message, unless the entry is an artifact. */
  readonly message?: Message;
  readonly artifact?: Artifact;
}

const DEFAULT_LIMIT = 100;
const MOST_ENTRIES = 1_000;
const DEFAULT_BYTES = 262_144;

/** The sources of a conversation: the entries of the current task, and the place of all others in the storage. */
interface ConversationPlace {
  readonly storage: TaskStorage;
  readonly scope: Scope;
  readonly contextId: string;
  /** The entries of the current task, oldest first. */
  readonly own: readonly ConversationEntry[];
  readonly ownTaskId: string;
  /** The highest allowed `maxBytes`. */
  readonly mostBytes: number;
}

/**
 * Returns the messages and artifacts of a context, oldest first. Tasks are in the order of their last status. The
 * artifacts of a task stand before the last message of its agent. Reads at most one task per entry.
 * @throws RangeError for a limit that is no positive integer.
 */
export async function conversationIn(
  { storage, scope, contextId, own, ownTaskId, mostBytes }: ConversationPlace,
  { limit = DEFAULT_LIMIT, maxBytes = DEFAULT_BYTES }: ConversationOptions,
): Promise<readonly ConversationEntry[]> {
  const room = new Room(
    checkBound('limit', limit, MOST_ENTRIES),
    Math.min(checkBound('maxBytes', maxBytes), mostBytes),
  );
  const found: ConversationEntry[] = [];
  const take = (entries: readonly ConversationEntry[]): boolean =>
    entries.toReversed().every((entry) => {
      const fits = room.take(entry);
      if (fits) found.push(entry);
      return fits;
    });
  if (!take(own)) return found.reverse();
  const query = { scope, contextId, orderBy: 'status', artifacts: true, history: true } as const;
  for (let cursor: Awaited<ReturnType<TaskStorage['tasks']>>['next']; room.entries > 0; ) {
    // Most tasks have two entries, a question and an answer. One more task is read, because the page may contain the
    // current task.
    const page = await storage.tasks({
      ...query,
      limit: Math.ceil(room.entries / 2) + 1,
      maxBytes: room.bytes,
      ...(cursor && { cursor }),
    });
    for (const { task } of page.tasks) {
      if (task.id !== ownTaskId && !take(entriesOf(task))) return found.reverse();
    }
    if (page.next === undefined) break;
    cursor = page.next;
  }
  return found.reverse();
}

/** Returns the entries of a task, oldest first, without progress messages. */
export function entriesOf({ id, history = [], artifacts = [], status }: Task): readonly ConversationEntry[] {
  const { message, state } = status;
  const isSaid = message !== undefined && (isTerminal(state) || isInterrupted(state));
  const isLast = isSaid && history.every(({ messageId }) => messageId !== message.messageId);
  return entriesFrom(id, isLast ? [...history, message] : history, artifacts);
}

/**
 * Returns the entries of messages and artifacts. The artifacts stand before the last message if the agent has sent
 * that.
 */
export function entriesFrom(
  taskId: string,
  messages: readonly Message[],
  artifacts: readonly Artifact[],
): readonly ConversationEntry[] {
  const said = messages.map((message) => entryOfMessage(taskId, message));
  const made = artifacts.map((artifact): ConversationEntry => {
    const copy = cloneJson(artifact);
    return { role: 'agent', text: textOf(copy.parts), parts: copy.parts, taskId, artifact: copy };
  });
  const last = said.at(-1)?.role === 'agent' ? said.length - 1 : said.length;
  return [...said.slice(0, last), ...made, ...said.slice(last)];
}

/** Returns a message as an entry. */
export function entryOfMessage(taskId: string, message: Message): ConversationEntry {
  const copy = cloneJson(message);
  const role = copy.role === 'ROLE_USER' ? 'user' : 'agent';
  return { role, text: textOf(copy.parts), parts: copy.parts, taskId, message: copy };
}

function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.text !== undefined ? [part.text] : [])).join('\n');
}

function checkBound(name: string, value: number, most = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value > 0) return Math.min(value, most);
  throw new RangeError(`${name} must be a positive integer`);
}

/** The entries and bytes that are left. The newest entry fits at any size. */
class Room {
  #entries: number;
  #bytes: number;
  #isEmpty = true;

  constructor(entries: number, bytes: number) {
    this.#entries = entries;
    this.#bytes = bytes;
  }

  get entries(): number {
    return this.#entries;
  }

  get bytes(): number {
    return Math.max(1, this.#bytes);
  }

  /** Returns false if the entry does not fit. */
  take({ message, artifact }: ConversationEntry): boolean {
    const bytes = artifact === undefined ? messageBytes(message) : artifactBytes(artifact);
    if (this.#entries < 1 || (bytes > this.#bytes && !this.#isEmpty)) return false;
    this.#isEmpty = false;
    this.#entries -= 1;
    this.#bytes -= bytes;
    return true;
  }
}
