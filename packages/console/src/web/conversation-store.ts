import { signal } from '@preact/signals';
import type { Message } from 'parley-a2a';
import { partsSize, type TaskView } from './task-view.js';

/** The answer of the agent to one message. */
export interface Reply {
  readonly phase: 'running' | 'done' | 'failed';
  /** The task, if the agent made one. */
  readonly view?: TaskView | undefined;
  /** The message, if the agent answered with one. */
  readonly message?: Message | undefined;
  /** The reason of a failure. */
  readonly failure?: string | undefined;
  /** The last event with a number, after which a stream resumes. */
  readonly lastEventId?: string | undefined;
  readonly events: number;
  /** The number of lost connections. */
  readonly breaks: number;
  /** True if the content was too large for the browser. The server has the task. */
  readonly isTrimmed?: boolean;
}

/** A message of the user, and the answer to it. */
export interface Turn {
  readonly messageId: string;
  readonly text: string;
  /** The names of the files that were sent with it. */
  readonly files?: readonly string[];
  /** True if it has more than text. The browser stores only the text. */
  readonly hasData?: boolean;
  readonly at: number;
  readonly reply: Reply;
}

/** A conversation with one agent. */
export interface Conversation {
  readonly id: string;
  /** The path of the agent. */
  readonly agent: string;
  /** True if it used a credential: it is stored in this tab only, until its user signs out. */
  readonly isPrivate: boolean;
  readonly contextId?: string | undefined;
  readonly turns: readonly Turn[];
  readonly changedAt: number;
}

const INDEX = 'parley-console:conversations';
const keyOf = (id: string): string => `parley-console:conversation:${id}`;
const MOST_CONVERSATIONS = 100;
/** Maximum number of characters of one conversation in the browser. The server still has the tasks. */
const MOST_CHARACTERS = 400_000;
const SAVE_MS = 300;

/** The storages of private conversations, and of all others. */
const STORAGES = [sessionStorage, localStorage] as const;

/** All conversations, the latest first. */
export const conversations = signal<readonly Conversation[]>(loadConversations());

const unsaved = new Set<string>();
let saving: ReturnType<typeof setTimeout> | undefined;

/** The conversation with an id. */
export function conversationOf(id: string | undefined): Conversation | undefined {
  return conversations.value.find((one) => one.id === id);
}

/** Adds or replaces a conversation, and stores it across reloads. */
export function putConversation(conversation: Conversation): void {
  const all = conversations.value;
  const at = all.findIndex(({ id }) => id === conversation.id);
  conversations.value = at === -1 ? [conversation, ...all] : all.with(at, conversation);
  for (const { id } of conversations.value.slice(MOST_CONVERSATIONS)) removeConversation(id);
  unsaved.add(conversation.id);
  saving ??= setTimeout(saveAll, SAVE_MS);
}

/** Deletes a conversation. Its tasks stay on the server. */
export function removeConversation(id: string): void {
  conversations.value = conversations.value.filter((one) => one.id !== id);
  unsaved.delete(id);
  for (const storage of STORAGES) storage.removeItem(keyOf(id));
  saveIndex();
}

/** Deletes the conversations of an agent that used a credential. */
export function forgetPrivate(agent: string): void {
  for (const one of conversations.value) if (one.isPrivate && one.agent === agent) removeConversation(one.id);
}

/** Changes one answer. */
export function changeReply(id: string, messageId: string, change: Partial<Reply>): void {
  const conversation = conversationOf(id);
  const at = conversation?.turns.findIndex((turn) => turn.messageId === messageId) ?? -1;
  const turn = conversation?.turns[at];
  if (conversation === undefined || turn === undefined) return;
  const reply = { ...turn.reply, ...change };
  const contextId = reply.view?.contextId ?? reply.message?.contextId ?? conversation.contextId;
  putConversation({ ...conversation, contextId, turns: conversation.turns.with(at, { ...turn, reply }) });
}

function loadConversations(): readonly Conversation[] {
  const found = STORAGES.flatMap((storage) =>
    (read<readonly string[]>(storage, INDEX) ?? []).flatMap((id) => read<Conversation>(storage, keyOf(id)) ?? []),
  );
  return found.sort((one, other) => other.changedAt - one.changedAt);
}

function read<Value>(storage: Storage, key: string): Value | undefined {
  try {
    const text = storage.getItem(key);
    return text === null ? undefined : (JSON.parse(text) as Value);
  } catch {
    return undefined;
  }
}

function saveAll(): void {
  clearTimeout(saving);
  saving = undefined;
  for (const id of unsaved) {
    const conversation = conversationOf(id);
    if (conversation !== undefined) write(storageOf(conversation), keyOf(id), textOf(conversation));
  }
  unsaved.clear();
  saveIndex();
}

function textOf(conversation: Conversation): string {
  // Megabytes are not written, because that would block the page on each change.
  const size = conversation.turns.reduce((sum, { text, reply }) => sum + text.length + sizeOf(reply), 0);
  const whole = size > MOST_CHARACTERS ? undefined : JSON.stringify(conversation);
  if (whole !== undefined && whole.length <= MOST_CHARACTERS) return whole;
  const turns = conversation.turns.map((turn) => ({ ...turn, reply: withoutContents(turn.reply) }));
  return JSON.stringify({ ...conversation, turns });
}

/** The characters of the texts and files of an answer. */
function sizeOf({ view, message }: Reply): number {
  const parts = [...(view?.artifacts ?? []), ...(view?.notes ?? []), ...(message === undefined ? [] : [message])];
  return parts.reduce((sum, one) => sum + partsSize(one.parts), 0);
}

/** Without the task's content, which is read again from the server when it is shown. */
function withoutContents(reply: Reply): Reply {
  if (reply.view === undefined) return { ...reply, message: undefined };
  return {
    ...reply,
    isTrimmed: true,
    lastEventId: undefined,
    view: { ...reply.view, artifacts: [], notes: [], message: undefined },
  };
}

function storageOf({ isPrivate }: Conversation): Storage {
  return STORAGES[isPrivate ? 0 : 1];
}

function saveIndex(): void {
  for (const storage of STORAGES) {
    const own = conversations.value.filter((one) => storageOf(one) === storage);
    write(storage, INDEX, JSON.stringify(own.map(({ id }) => id)));
  }
}

function write(storage: Storage, key: string, text: string): void {
  try {
    storage.setItem(key, text);
  } catch {
    // The storage of the browser is full: the conversation is lost when the page is closed.
  }
}

addEventListener('pagehide', saveAll);
