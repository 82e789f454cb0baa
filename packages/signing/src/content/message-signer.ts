import type { Message } from 'parley-a2a';
import { InvalidParamsError } from 'parley-a2a/binding-kit';
import { decodeType, ENCRYPTION_EXTENSION, isObject, SIGNING_EXTENSION } from 'parley-a2a/kit';
import type { Clock } from 'parley-a2a/server';
import { messageText, OPTIONAL_IDS } from './canonical-content.js';
import { withCarriedLabels } from './carried-labels.js';
import type { ContentSigner } from './content-signer.js';

/** The ports of signed messages to an agent. */
interface MessageSigning {
  readonly signer: ContentSigner;
  /** The name of the agent. */
  readonly audience: string;
  /** The validity of a signature, in ms. */
  readonly lifetimeMs: number;
  readonly clock: Clock;
}

/** A signed message. */
export interface OutgoingMessage {
  readonly message: Message;
  /** The time of its signature, in seconds. */
  readonly since: number;
}

/**
 * The message in the form that an agent decodes, on any binding. Values such as dates become JSON, and other forms of
 * ProtoJSON become that of the model.
 * @throws InvalidParamsError naming the fields that no agent would accept.
 */
export function normalMessage(given: Message): Message {
  try {
    return decodeType('Message', JSON.parse(JSON.stringify(given)) as unknown);
  } catch (error) {
    if (!(error instanceof InvalidParamsError)) throw error;
    const { violations = [] } = error.details;
    throw new InvalidParamsError(violations.map((one) => ({ ...one, field: `message.${one.field}` })));
  }
}

/** Signs a message, which must be in the normal form. */
export async function signedMessage(given: Message, options: MessageSigning): Promise<OutgoingMessage> {
  const { signer, audience, lifetimeMs, clock } = options;
  const parts = given.parts.map(withCarriedLabels);
  const message = { ...given, parts, extensions: [...new Set([...(given.extensions ?? []), SIGNING_EXTENSION])] };
  const ids = OPTIONAL_IDS.filter((name) => message[name] !== undefined);
  const iat = Math.floor(clock.now() / 1_000);
  const claims = { aud: audience, iat, exp: iat + Math.ceil(lifetimeMs / 1_000), ids };
  const signed = await signer.sign({ type: 'message', text: messageText(message, ids), claims });
  return { message: { ...message, metadata: { ...message.metadata, ...signed } }, since: iat };
}

/** Removes the signatures and the key for answers. In a forwarded message they belong to another sender. */
export function unsignedMessage(message: Message): Message {
  if (message.metadata === undefined) return message;
  const { metadata, ...bare } = message;
  const { [SIGNING_EXTENSION]: _, [ENCRYPTION_EXTENSION]: __, ...rest } = metadata;
  return Object.keys(rest).length > 0 ? { ...bare, metadata: rest } : bare;
}

/** The header of a signature by one of these keys over the message for the agent. Undefined if there is none. */
export function ownHeader(
  { metadata }: Pick<Message, 'metadata'>,
  { signer, audience }: Pick<MessageSigning, 'signer' | 'audience'>,
): Readonly<Record<string, unknown>> | undefined {
  const own = metadata?.[SIGNING_EXTENSION];
  const list = isObject(own) && Array.isArray(own.signatures) ? (own.signatures as unknown[]) : [];
  for (const entry of list) {
    const header =
      isObject(entry) && typeof entry.protected === 'string' ? signer.headerOf(entry.protected) : undefined;
    if (header?.aud === audience && signer.kids.includes(String(header.kid))) return header;
  }
  return undefined;
}
