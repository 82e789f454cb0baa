import type { Part } from 'parley-a2a';
import { readableConversation, readableFiles } from 'parley-a2a/kit';
import type { RequestContext } from 'parley-a2a/server';

/** A message in the form that the messages of a graph take. */
interface InputMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string | readonly ContentBlock[];
  /** Absent for earlier messages of a graph without a checkpointer. */
  readonly id?: string;
}

/** A standard content block of LangChain. */
export interface ContentBlock {
  readonly type: 'text' | 'image' | 'audio' | 'video' | 'file';
  readonly text?: string;
  readonly mimeType?: string;
  /** Base64. */
  readonly data?: string;
  readonly url?: string;
}

/** The input of a graph whose thread stores the earlier messages: only the new message. */
export async function messageInput(
  context: RequestContext,
  fileBytes?: number,
): Promise<{ readonly messages: readonly InputMessage[] }> {
  const { message, taskId } = context;
  const readable = await readableFiles(context, message.parts, fileBytes);
  const content = contentOf(message.parts.map(readable));
  // The id contains that of the task. An id of the client alone could equal that of an earlier message, which the graph
  // would replace.
  return { messages: [{ role: 'user', content, id: `${taskId}/${message.messageId}` }] };
}

/** The input of a graph without a checkpointer: the whole conversation. */
export async function conversationInput(
  context: RequestContext,
  fileBytes?: number,
): Promise<{ readonly messages: readonly InputMessage[] }> {
  const entries = await context.conversation();
  const readable = await readableConversation(context, entries, fileBytes);
  return {
    messages: entries
      .filter(({ parts }) => parts.length > 0)
      .map(({ role, parts, text }) =>
        role === 'user' ? { role, content: contentOf(parts.map(readable)) } : { role: 'assistant', content: text },
      ),
  };
}

/** A text, or content blocks if the message has files. Data is JSON in the text. */
function contentOf(parts: readonly Part[]): string | readonly ContentBlock[] {
  const blocks = parts.map(blockOf);
  const isText = blocks.every(({ type }) => type === 'text');
  return isText ? blocks.map(({ text = '' }) => text).join('\n') : blocks;
}

function blockOf(part: Part): ContentBlock {
  if (part.text !== undefined) return { type: 'text', text: part.text };
  if (part.data !== undefined) return { type: 'text', text: JSON.stringify(part.data) };
  const { mediaType: mimeType = 'application/octet-stream' } = part;
  const type = kindOf(mimeType);
  return part.raw !== undefined ? { type, mimeType, data: part.raw } : { type, mimeType, url: part.url };
}

function kindOf(mimeType: string): ContentBlock['type'] {
  const [kind] = mimeType.split('/');
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'file';
}
