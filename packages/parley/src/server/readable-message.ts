import type { Message } from '../model/message.js';

const READABLE = new WeakMap<Message, Message>();

/** Tells the plain form of a message with encrypted parts, for checks. The storage gets the encrypted one. */
export function tellReadable(message: Message, plain: Message): void {
  READABLE.set(message, plain);
}

/** The plain form of a message; the message itself if it has no other one. */
export function readableMessage(message: Message): Message {
  return READABLE.get(message) ?? message;
}
