import type { AgentInputItem } from '@openai/agents';
import type { Part } from 'parley-a2a';
import { readableConversation, readableFiles } from 'parley-a2a/kit';
import type { ConversationEntry, RequestContext } from 'parley-a2a/server';

type UserContent = Exclude<Extract<AgentInputItem, { role: 'user' }>['content'], string>[number];

/** The conversation of a context as items for the model. Artifacts and messages of the agent become its texts. */
export async function conversationItems(
  context: RequestContext,
  entries: readonly ConversationEntry[],
  fileBytes?: number,
): Promise<AgentInputItem[]> {
  const readable = await readableConversation(context, entries, fileBytes);
  return entries.flatMap(({ role, parts, text }): AgentInputItem[] => {
    if (role === 'user') return [itemOf(parts.map(readable))];
    if (text === '') return [];
    return [{ role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] }];
  });
}

/** The message of the turn as an item for the model, with its images and files. Data is JSON in a text. */
export async function messageItem(context: RequestContext, fileBytes?: number): Promise<AgentInputItem> {
  const { parts } = context.message;
  return itemOf(parts.map(await readableFiles(context, parts, fileBytes)));
}

function itemOf(parts: readonly Part[]): AgentInputItem {
  return { role: 'user', content: parts.map(contentOf) };
}

function contentOf(part: Part): UserContent {
  if (part.text !== undefined) return { type: 'input_text', text: part.text };
  if (part.data !== undefined) return { type: 'input_text', text: JSON.stringify(part.data) };
  const { mediaType = 'application/octet-stream', filename } = part;
  const isImage = mediaType.startsWith('image/');
  const url = part.raw !== undefined ? `data:${mediaType};base64,${part.raw}` : part.url;
  if (isImage) return { type: 'input_image', image: url };
  const file = part.raw !== undefined ? url : { url };
  return { type: 'input_file', file, ...(filename !== undefined && { filename }) };
}
