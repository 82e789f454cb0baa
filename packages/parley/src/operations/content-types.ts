import { ContentTypeNotSupportedError } from '../errors/spec-errors.js';
import type { Part } from '../model/part.js';
import type { SendMessageRequest } from '../model/send-message-request.js';

/** The media types that the author of an agent declares. Absent: the agent accepts all. */
export interface ContentModes {
  readonly input?: readonly string[] | undefined;
  readonly output?: readonly string[] | undefined;
}

/**
 * Refuses a message with a part that the agent does not accept. Refuses a message if the client accepts no media type
 * that the agent produces (Spec §3.1.1). A text without a media type is `text/plain`, data is `application/json`. A
 * file without a media type is accepted.
 * @throws ContentTypeNotSupportedError naming the type.
 */
export function requireContentTypes(request: SendMessageRequest, { input, output }: ContentModes): void {
  if (input !== undefined) {
    for (const [at, part] of request.message.parts.entries()) {
      const type = typeOf(part);
      if (type !== undefined && !input.some((mode) => overlap(mode, type))) {
        throw refusal(`message.parts[${at}] is ${type}, and the agent takes ${input.join(', ')}`, type);
      }
    }
  }
  // Empty names are dropped. A list of nothing else restricts nothing.
  const wanted = (request.configuration?.acceptedOutputModes ?? []).filter((type) => type.trim() !== '');
  if (output === undefined || wanted.length === 0) return;
  if (!wanted.some((type) => output.some((mode) => overlap(mode, type)))) {
    const types = wanted.join(', ');
    throw refusal(`the caller accepts ${types}, and the agent gives ${output.join(', ')}`, types);
  }
}

function typeOf(part: Part): string | undefined {
  const { mediaType } = part;
  if (mediaType !== undefined && mediaType !== '') return mediaType;
  return part.text !== undefined ? 'text/plain' : part.data !== undefined ? 'application/json' : undefined;
}

/** True if two types or ranges such as `image/*` have a type in common; parameters do not count. */
function overlap(one: string, other: string): boolean {
  const [type = '', subtype = '*'] = essenceOf(one);
  const [otherType = '', otherSubtype = '*'] = essenceOf(other);
  const sameType = type === otherType || type === '*' || otherType === '*';
  return sameType && (subtype === otherSubtype || subtype === '*' || otherSubtype === '*');
}

/** Clients of 0.3 also name a bare `text`. */
function essenceOf(type: string): readonly string[] {
  return (type.split(';', 1)[0] ?? '').trim().toLowerCase().split('/', 2);
}

function refusal(reason: string, mediaType: string): ContentTypeNotSupportedError {
  return new ContentTypeNotSupportedError(reason, { metadata: { mediaType } });
}
