import type { Message } from '../model/message.js';

const READABLE = new WeakMap<Message, Message>();

/** Registers the decrypted form of a message, which checks read. The storage gets the encrypted one. */
export function tellReadable(message: Message, plain: Message): void {
  READABLE.set(message, plain);
}

/** The decrypted form of a message; the message itself if none is registered. */
export function readableMessage(message: Message): Message {
  return READABLE.get(message) ?? message;
}

/** Reads a message of the agent that the storage has encrypted. */
export type StoredMessageReader = (stored: Message) => Promise<Message>;

const READERS = new WeakMap<Message, StoredMessageReader>();

/** Registers the reader of the question that a message answers. The agent encrypts its questions for itself too. */
export function tellReader(message: Message, read: StoredMessageReader): void {
  READERS.set(message, read);
}

/** The plain form of a stored question that a message answers. */
export async function readableQuestion(
  question: Message,
  { message }: { readonly message: Message },
): Promise<Message> {
  return (await READERS.get(message)?.(question)) ?? question;
}
