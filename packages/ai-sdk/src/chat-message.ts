import type { UIMessage } from 'ai';
import type { JsonValue, Message, Part } from 'parley-a2a';
import { callerIds, isBase64 } from 'parley-a2a/kit';
import { webUrl } from './chat-chunks.js';

/** The new content of a chat, for its agent. */
export interface ChatInput {
  readonly parts: readonly Part[];
  /** The message of the chat that the answer continues: the user has answered its questions about calls. */
  readonly continues?: { readonly messageId: string; readonly callIds: readonly string[] };
}

/** The message of a chat with new content: the last one, or an answer whose approvals the user has decided. */
export function newMessage<Message extends Pick<UIMessage, 'id' | 'role'>>(
  messages: readonly Message[],
  messageId: string | undefined,
): Message | undefined {
  const last = messages.at(-1);
  if (last?.role === 'user') return last;
  return messages.find(({ id, role }) => id === messageId && role === 'assistant') ?? last;
}

/**
 * The message of the user, or the decisions about calls. The agent has all earlier messages.
 * @throws Error, whose text is for the user, for a message with nothing to send.
 */
export function chatInput(message: UIMessage | undefined): ChatInput {
  if (message?.role === 'user') {
    const parts = message.parts.flatMap(userPart);
    if (parts.length === 0) throw new Error('The message is empty.');
    return { parts };
  }
  if (message?.role !== 'assistant') throw new Error('The chat has no message of its user.');
  const calls = message.parts.filter((part) => 'toolCallId' in part);
  const step = message.parts.slice(message.parts.findLastIndex(({ type }) => type === 'step-start') + 1);
  const parts = step.flatMap(decisionPart);
  if (parts.length === 0) throw new Error('The chat has no new message of its user, and no answer to a question.');
  return { parts, continues: { messageId: message.id, callIds: calls.map(({ toolCallId }) => toolCallId) } };
}

/** The decision about a waiting call. */
function decisionPart(part: UIMessage['parts'][number]): readonly Part[] {
  if (!('toolCallId' in part) || part.state !== 'approval-responded') return [];
  const { approved, reason } = part.approval;
  const decision = approved ? 'approve' : 'refuse';
  return [{ data: { toolApproval: { callId: part.toolCallId, decision, ...(reason !== undefined && { reason }) } } }];
}

function userPart(part: UIMessage['parts'][number]): readonly Part[] {
  if (part.type === 'text') return part.text === '' ? [] : [{ text: part.text }];
  if (part.type === 'file') return [filePart(part)];
  return part.type.startsWith('data-') && 'data' in part ? [{ data: part.data as JsonValue }] : [];
}

/** Reads `data:image/png;base64,…`. */
const DATA_URL = /^data:[^,]*;base64,/;

function filePart({ url, mediaType, filename }: Extract<UIMessage['parts'][number], { readonly type: 'file' }>): Part {
  const about = { mediaType, ...(filename !== undefined && { filename }) };
  const head = DATA_URL.exec(url)?.[0];
  if (head !== undefined) {
    const raw = url.slice(head.length);
    if (!isBase64(raw)) throw new Error('A file is not in base64.');
    return { raw, ...about };
  }
  const web = webUrl(url);
  if (web === undefined) throw new Error('The url of a file is neither http, https nor base64 data.');
  return { url: web, ...about };
}

/** A new id for the message of an answer. */
export function newAnswerId(): string {
  return callerIds.random();
}

/** Maximum length of a chat message id that is embedded into ids of messages to the agent. */
const MOST_ID = 200;

/**
 * Makes the id of a message to the agent, which contains the id of the answer in the chat. So the history of the task
 * leads back to the answer.
 */
export function sentId(answerId: string): string {
  return answerId.length > MOST_ID ? callerIds.random() : `${answerId}/${callerIds.random()}`;
}

/** The id of the chat message with the last answer; undefined if no message of the history contains it. */
export function answerIdIn(history: readonly Message[] = []): string | undefined {
  const id = history.findLast(({ role }) => role === 'ROLE_USER')?.messageId ?? '';
  const end = id.lastIndexOf('/');
  return end <= 0 ? undefined : id.slice(0, end);
}
