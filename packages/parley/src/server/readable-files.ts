import { OptionsError } from '../errors/options-error.js';
import type { Part } from '../model/part.js';
import type { ConversationEntry } from './conversation.js';
import type { RequestContext } from './request-context.js';
import type { TurnFiles } from './turn-files.js';

/** Maximum bytes of files of this server in one call of a model: 16 MiB. */
export const FILE_BYTES = 16_777_216;

/**
 * Reads files of this server in the parts of a caller, for a model that cannot fetch them. Reads the first parts first,
 * up to `maxBytes`. Resolves to a function that returns the readable form of each part.
 */
export async function readableFiles(
  context: Partial<Pick<RequestContext, 'files'>>,
  parts: readonly Part[],
  maxBytes = FILE_BYTES,
): Promise<(part: Part) => Part> {
  const urls = parts.filter((part) => part.url !== undefined);
  const files = urls.length === 0 || maxBytes === 0 ? undefined : filesOf(context);
  if (files === undefined) return (part) => part;
  const read = await files.inline(urls, maxBytes);
  const readable = new Map<Part, Part | undefined>(urls.map((part, at) => [part, read[at]]));
  return (part) => readable.get(part) ?? part;
}

/** The same for a conversation: reads the newest messages of the caller first. */
export function readableConversation(
  context: Partial<Pick<RequestContext, 'files'>>,
  entries: readonly ConversationEntry[],
  maxBytes?: number,
): Promise<(part: Part) => Part> {
  const parts = entries.toReversed().flatMap((entry) => (entry.role === 'user' ? entry.parts : []));
  return readableFiles(context, parts, maxBytes);
}

/** Returns the files of the caller; `undefined` if the server has no option `files`. */
function filesOf(context: Partial<Pick<RequestContext, 'files'>>): TurnFiles | undefined {
  try {
    return context.files;
  } catch (error) {
    if (error instanceof OptionsError) return undefined;
    throw error;
  }
}
