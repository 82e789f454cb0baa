import type { AssistantModelMessage, ModelMessage, ToolModelMessage, UserModelMessage } from 'ai';
import { joinedParts } from '../../client/text-of.js';
import type { Part } from '../../model/part.js';
import type { ConversationEntry, ConversationOptions } from '../../server/conversation.js';
import type { RequestContext } from '../../server/request-context.js';
import type { ToolRun } from '../../tools/tool-run.js';
import { isOfTools, modelContentOf } from './model-output.js';
import { type CurrentCalls, type RecordedStep, recordedSteps } from './recorded-tools.js';

/** The bounds of the messages, and the files in them. */
export interface ModelMessagesOptions extends ConversationOptions {
  /**
   * Decides on the url of a file of the user: true gives it to the model. The AI SDK fetches urls that a model cannot
   * read, from the network of this process. Default: none; the model gets the url as text.
   */
  readonly urls?: (url: URL) => boolean;
  /** The calls of the turn. If it goes on after an approval, the question and its answer are left out. */
  readonly run?: ToolRun;
}

type UserPart = Exclude<UserModelMessage['content'], string>[number];
type AssistantPart = Exclude<AssistantModelMessage['content'], string>[number];

/** A message whose content is a list. */
type Turn =
  | { readonly role: 'user'; readonly content: UserPart[] }
  | { readonly role: 'assistant'; readonly content: AssistantPart[] }
  | { readonly role: 'tool'; readonly content: ToolModelMessage['content'] };

/**
 * The conversation of the context as messages for a model, the newest last. Text stays text, data becomes JSON text,
 * files of the user become file parts. Tool calls of earlier turns come with their results. Reasoning is left out.
 * @throws RangeError for a bound that is no positive integer.
 */
export async function toModelMessages(
  context: Pick<RequestContext, 'conversation' | 'message'>,
  { urls, run, ...bounds }: ModelMessagesOptions = {},
): Promise<ModelMessage[]> {
  const entries = await context.conversation(bounds);
  const isResumed = run !== undefined && run.message.messageId !== context.message.messageId;
  const current = new Map(run?.calls.map((call) => [call.id, call]));
  return messagesOf(isResumed ? withoutApproval(entries) : entries, { urls, ...(isResumed && { current }) });
}

/** The settings of `messagesOf`. */
export interface EntryOptions {
  readonly urls?: ((url: URL) => boolean) | undefined;
  /** The calls that the model gets results of. They come last. */
  readonly current?: CurrentCalls;
}

/** The entries of a conversation as messages. Entries before the first one of the user are left out. */
export function messagesOf(
  entries: readonly ConversationEntry[],
  { urls = () => false, current }: EntryOptions = {},
): ModelMessage[] {
  const turns: Turn[] = [];
  for (const entry of entries) {
    if (entry.role === 'user') {
      add(turns, { role: 'user', content: entry.parts.flatMap((part) => userPart(part, urls)) });
      continue;
    }
    if (entry.artifact !== undefined && modelContentOf(entry.artifact) === 'reasoning') continue;
    if (!isOfTools(entry.artifact)) add(turns, { role: 'assistant', content: assistantParts(entry) });
    else addSteps(turns, recordedSteps(entry.parts, { ...(current && { current }), only: current && 'earlier' }));
  }
  if (current !== undefined) {
    for (const { artifact } of entries) {
      if (isOfTools(artifact)) addSteps(turns, recordedSteps(artifact?.parts ?? [], { current, only: 'current' }));
    }
  }
  const first = turns.findIndex(({ role }) => role === 'user');
  return first < 0 ? [] : turns.slice(first);
}

/** The newest entry is the answer to a question for approval. */
function withoutApproval(entries: readonly ConversationEntry[]): readonly ConversationEntry[] {
  const question = entries.findLast(({ message }) => isOfTools(message));
  return entries.slice(0, -1).filter((entry) => entry !== question);
}

/** Adds a turn, or its content to the turn before it. Models refuse empty turns, and some two turns of one role. */
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
  if ('text' in part) return part.text === '' ? [] : [{ type: 'text', text: part.text }];
  if ('data' in part) return [{ type: 'text', text: JSON.stringify(part.data) }];
  const { filename, mediaType = 'application/octet-stream' } = part;
  const about = { mediaType, ...(filename !== undefined && { filename }) };
  if ('raw' in part) return [{ type: 'file', data: { type: 'data', data: part.raw }, ...about }];
  const url = URL.parse(part.url);
  if (url !== null && urls(url)) return [{ type: 'file', data: { type: 'url', url }, ...about }];
  return [{ type: 'text', text: mention(part) }];
}

/** Most models read no files of the assistant, so they get the names. */
function assistantParts({ parts, artifact }: ConversationEntry): AssistantPart[] {
  return (artifact === undefined ? parts : joinedParts(parts)).flatMap((part): AssistantPart[] => {
    if ('text' in part) return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    return [{ type: 'text', text: 'data' in part ? JSON.stringify(part.data) : mention(part) }];
  });
}

function mention(part: Exclude<Part, { readonly text: string } | { readonly data: unknown }>): string {
  const about = [part.filename, part.mediaType, 'url' in part ? part.url : undefined];
  return `[file: ${about.filter((one) => one !== undefined && one !== '').join(', ') || 'without a name'}]`;
}
