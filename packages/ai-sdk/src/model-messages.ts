import type { AssistantModelMessage, ModelMessage, ToolModelMessage, UserModelMessage } from 'ai';
import type { Part } from 'parley-a2a';
import { joinParts, type RecordedCall, readableConversation, refuseArgument } from 'parley-a2a/kit';
import type { ConversationEntry, ConversationOptions, RequestContext } from 'parley-a2a/server';
import type { ToolRun } from 'parley-a2a/tools';
import { isOfTools, modelContentOf } from './model-output.js';
import { type PresentCalls, type RecordedStep, recordedSteps } from './recorded-tools.js';
import { type AnsweredContext, answeredCalls } from './sdk-approvals.js';

/** The bounds of the messages, and the files in them. */
export interface ModelMessagesOptions extends ConversationOptions {
  /**
   * Decides about the url of a user's file: true passes it to the model. The AI SDK fetches urls that a model cannot
   * read, from the network of this process. Default: none; the model gets the url as text.
   */
  readonly urls?: (url: URL) => boolean;
  /**
   * Maximum bytes of files of this server that the model gets, those of the newest messages first. It gets the urls of
   * the others as text. Default: 16 MiB.
   */
  readonly fileBytes?: number;
  /** The calls of the turn. If it continues after an approval, the question and its answer are left out. */
  readonly run?: ToolRun;
}

type UserPart = Exclude<UserModelMessage['content'], string>[number];
type AssistantPart = Exclude<AssistantModelMessage['content'], string>[number];

/** A message whose content is a list. */
type Turn =
  | { readonly role: 'user'; readonly content: UserPart[] }
  | { readonly role: 'assistant'; readonly content: (AssistantPart | RecordedStep['calls'][number])[] }
  | { readonly role: 'tool'; readonly content: ToolModelMessage['content'] };

/**
 * The conversation of the context as messages for a model, the newest last. Text stays text, data becomes JSON text,
 * files of the user become file parts. Tool calls of earlier turns come with their results. Approved calls come with
 * their approvals, and the AI SDK runs them. Reasoning is left out.
 * @throws RangeError for a bound that is no positive integer.
 */
export async function toModelMessages(
  context: Pick<RequestContext, 'conversation' | 'message' | 'task' | 'history' | 'clock'> &
    Partial<Pick<RequestContext, 'files'>>,
  { urls, fileBytes, run, ...bounds }: ModelMessagesOptions = {},
): Promise<ModelMessage[]> {
  if (typeof Object(context).conversation !== 'function')
    refuseArgument('toModelMessages', 'the context of a turn', context);
  const entries = await context.conversation(bounds);
  const readable = await readableConversation(context, entries, fileBytes);
  return messagesOf(entries, { urls, readable, ...(run === undefined ? ofSdk(context) : ofRun(context, run)) });
}

/** The calls of a turn that a run records. */
function ofRun({ message }: Pick<RequestContext, 'message'>, run: ToolRun): CallsOfTurn {
  const isResumed = run.message.messageId !== message.messageId;
  if (!isResumed) return {};
  const present = new Map(run.calls.map((call) => [call.id, call]));
  return { isAnswer: true, present, isLast: (id) => present.has(id) };
}

/** The calls of a turn that the AI SDK runs. */
function ofSdk(context: AnsweredContext): CallsOfTurn {
  const { calls, changes, kind, run } = answeredCalls(context);
  if (kind === 'other') return changes.length > 0 ? { isQuestionClosed: true, present: calls } : {};
  // A waiting call has at most one answer. An executor that does not ask again continues without one.
  const present = new Map(
    [...calls].map(([id, call]) => [id, isWaiting(call) ? { ...call, ...UNANSWERED } : call] as const),
  );
  return { isAnswer: true, present, isLast: (id) => calls.get(id)?.run === run, withApproved: true };
}

const UNANSWERED = {
  state: 'refused',
  failure: { reason: 'superseded', message: 'The call was not approved.' },
} as const;

function isWaiting({ state, expiresAt }: RecordedCall): boolean {
  return state === 'requested' && expiresAt !== undefined;
}

/** The calls of a turn, as its messages need them. */
interface CallsOfTurn {
  /** True if the newest message answers a question for approvals. Both are left out. */
  readonly isAnswer?: boolean;
  /** True if the newest message came instead of an answer. Only the question is left out. */
  readonly isQuestionClosed?: boolean;
  readonly present?: PresentCalls;
  /** Selects the calls whose results the model gets. They come last. */
  readonly isLast?: (id: string) => boolean;
  readonly withApproved?: boolean;
}

/** The settings of `messagesOf`. */
interface EntryOptions extends CallsOfTurn {
  readonly urls?: ((url: URL) => boolean) | undefined;
  /** The form of a part of the user that the model can read. */
  readonly readable?: (part: Part) => Part;
}

/** The entries of a conversation as messages. Entries before the first one of the user are left out. */
export function messagesOf(
  all: readonly ConversationEntry[],
  {
    urls = () => false,
    readable = (part) => part,
    isAnswer = false,
    isQuestionClosed = false,
    isLast,
    ...calls
  }: EntryOptions = {},
): ModelMessage[] {
  const turns: Turn[] = [];
  const question = isAnswer || isQuestionClosed ? all.findLast(({ message }) => isOfTools(message)) : undefined;
  const entries = (isAnswer ? all.slice(0, -1) : all).filter((entry) => entry !== question);
  for (const entry of entries) {
    if (entry.role === 'user') {
      add(turns, { role: 'user', content: entry.parts.flatMap((part) => userPart(readable(part), urls)) });
      continue;
    }
    if (entry.artifact !== undefined && modelContentOf(entry.artifact) === 'reasoning') continue;
    if (!isOfTools(entry.artifact)) add(turns, { role: 'assistant', content: assistantParts(entry) });
    else addSteps(turns, recordedSteps(entry.parts, { ...calls, ...(isLast && { isRead: (id) => !isLast(id) }) }));
  }
  if (isLast !== undefined) {
    for (const { artifact, parts } of entries) {
      if (isOfTools(artifact)) addSteps(turns, recordedSteps(parts, { ...calls, isRead: isLast }));
    }
  }
  const first = turns.findIndex(({ role }) => role === 'user');
  return first < 0 ? [] : turns.slice(first);
}

/**
 * Appends a turn, or merges its content into the turn before it. Some models refuse empty turns, and two turns of one
 * role.
 */
function add(turns: Turn[], turn: Turn): void {
  if (turn.content.length === 0) return;
  const last = turns.at(-1);
  if (last?.role === turn.role) (last.content as unknown[]).push(...turn.content);
  else turns.push(turn);
}

function addSteps(turns: Turn[], steps: readonly RecordedStep[]): void {
  for (const { calls, results } of steps) {
    add(turns, { role: 'assistant', content: [...calls] });
    add(turns, { role: 'tool', content: [...results] });
  }
}

function userPart(part: Part, urls: (url: URL) => boolean): UserPart[] {
  if (part.text !== undefined) return part.text === '' ? [] : [{ type: 'text', text: part.text }];
  if (part.data !== undefined) return [{ type: 'text', text: JSON.stringify(part.data) }];
  const { filename, mediaType = 'application/octet-stream' } = part;
  const about = { mediaType, ...(filename !== undefined && { filename }) };
  if (part.raw !== undefined) return [{ type: 'file', data: { type: 'data', data: part.raw }, ...about }];
  const url = URL.parse(part.url);
  if (url !== null && urls(url)) return [{ type: 'file', data: { type: 'url', url }, ...about }];
  return [{ type: 'text', text: mention(part) }];
}

/** Most models accept no files of the assistant, so they get the names. */
function assistantParts({ parts, artifact }: ConversationEntry): AssistantPart[] {
  return (artifact === undefined ? parts : joinParts(parts)).flatMap((part): AssistantPart[] => {
    if (part.text !== undefined) return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    return [{ type: 'text', text: part.data !== undefined ? JSON.stringify(part.data) : mention(part) }];
  });
}

function mention(part: Exclude<Part, { readonly text: string } | { readonly data: unknown }>): string {
  const about = [part.filename, part.mediaType, part.url !== undefined ? part.url : undefined];
  return `[file: ${about.filter((one) => one !== undefined && one !== '').join(', ') || 'without a name'}]`;
}
