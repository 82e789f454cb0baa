import type { Message } from 'parley-a2a';

/** The texts of the text parts of a message, in order. */
export function textsOf(message: Message): string[] {
  return message.parts.flatMap((part) => (part.text !== undefined ? [part.text] : []));
}
