import type { Message } from '../model/message.js';

const READABLE = new WeakMap<Message, Message>();

/** Registers the decrypted form of a message for checks. The storage gets the encrypted one. */
export function tellReadable(message: Message, plain: Message): void {
  READABLE.set(message, plain);
}

/** Returns the decrypted form of a message; the message itself if none is registered. */
export function readableMessage(message: Message): Message {
  return READABLE.get(message) ?? message;
}

/** Decrypts a stored message of the agent. */
export type StoredMessageReader = (stored: Message) => Promise<Message>;

const READERS = new WeakMap<Message, StoredMessageReader>();

/**
 * Registers the function that decrypts the question that a message answers. The agent encrypts its questions for itself
 * too.
 */
export function tellReader(message: Message, read: StoredMessageReader): void {
  READERS.set(message, read);
}

/** Returns the decrypted form of a stored question that a message answers. */
export async function readableQuestion(
  question: Message,
  { message }: { readonly message: Message },
): Promise<Message> {
  return (await READERS.get(message)?.(question)) ?? question;
}
