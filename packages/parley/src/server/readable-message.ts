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
