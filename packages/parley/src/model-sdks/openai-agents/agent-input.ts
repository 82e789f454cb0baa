import type { AgentInputItem } from '@openai/agents';
import type { Part } from '../../model/part.js';
import type { ConversationEntry } from '../../server/conversation.js';

type UserContent = Exclude<Extract<AgentInputItem, { role: 'user' }>['content'], string>[number];

/** The conversation of a context as items for the model. Artifacts and messages of the agent are its texts. */
export function conversationItems(entries: readonly ConversationEntry[]): AgentInputItem[] {
  return entries.flatMap(({ role, parts, text }): AgentInputItem[] => {
    if (role === 'user') return [userItem(parts)];
    if (text === '') return [];
    return [{ role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] }];
  });
}

/** A message of the user as an item for the model, with its images and files. Data is JSON in a text. */
export function userItem(parts: readonly Part[]): AgentInputItem {
  return { role: 'user', content: parts.map(contentOf) };
}

function contentOf(part: Part): UserContent {
  if ('text' in part) return { type: 'input_text', text: part.text };
  if ('data' in part) return { type: 'input_text', text: JSON.stringify(part.data) };
  const { mediaType = 'application/octet-stream', filename } = part;
  const isImage = mediaType.startsWith('image/');
  const url = 'raw' in part ? `data:${mediaType};base64,${part.raw}` : part.url;
  if (isImage) return { type: 'input_image', image: url };
  const file = 'raw' in part ? url : { url };
  return { type: 'input_file', file, ...(filename !== undefined && { filename }) };
}
