import type { AgentExtension } from '../model/agent-card.js';

/** A client that sends `Last-Event-ID` with SubscribeToTask gets the events after that id. */
export const STREAM_RESUME_EXTENSION = 'urn:parley-a2a:extension:stream-resume:v1';

/** A repeated message with the same id gets the outcome of the first one. */
export const IDEMPOTENT_SEND_EXTENSION = 'urn:parley-a2a:extension:idempotent-send:v1';

/** The extensions that an agent offers. */
export interface OfferedExtensions {
  readonly streamResume: boolean;
  readonly idempotentSend: boolean;
}

/** The entries of the card. Both are optional for clients (Spec §4.6.1). */
export function offeredExtensions(offered: OfferedExtensions): readonly AgentExtension[] {
  const extensions: AgentExtension[] = [];
  if (offered.streamResume) {
    extensions.push({
      uri: STREAM_RESUME_EXTENSION,
      description: 'A subscription with the header Last-Event-ID continues after the event of that id.',
      required: false,
    });
  }
  if (offered.idempotentSend) {
    extensions.push({
      uri: IDEMPOTENT_SEND_EXTENSION,
      description: 'A message sent again with the same messageId is answered with the outcome of the first one.',
      required: false,
    });
  }
  return extensions;
}
