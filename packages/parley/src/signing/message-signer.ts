import type { Message } from '../model/message.js';
import type { Clock } from '../runtime/clock.js';
import { messageText, OPTIONAL_IDS } from './canonical-content.js';
import type { ContentSigner } from './content-signer.js';
import { SIGNING_EXTENSION } from './extension-uris.js';

/** The ports of signed messages to an agent. */
export interface MessageSigning {
  readonly signer: ContentSigner;
  /** The agent, as it names itself. */
  readonly audience: string;
  /** The time for which a signature counts. */
  readonly lifetimeMs: number;
  readonly clock: Clock;
}

/** The message with signatures. */
export async function signedMessage(given: Message, options: MessageSigning): Promise<Message> {
  const { signer, audience, lifetimeMs, clock } = options;
  const message = { ...given, extensions: [...new Set([...(given.extensions ?? []), SIGNING_EXTENSION])] };
  const ids = OPTIONAL_IDS.filter((name) => message[name] !== undefined);
  const iat = Math.floor(clock.now() / 1_000);
  const claims = { aud: audience, iat, exp: iat + Math.ceil(lifetimeMs / 1_000), ids };
  const signed = await signer.sign({ type: 'message', text: messageText(message, ids), claims });
  return { ...message, metadata: { ...message.metadata, ...signed } };
}
