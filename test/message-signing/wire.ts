import { FlattenedSign, importJWK, type JWK } from 'jose';
import type { Message, StreamResponse } from 'parley-a2a';
import type { ClientCallContext, Interceptor } from 'parley-a2a/client';
import { type PrivateJwk, SIGNING_EXTENSION } from 'parley-a2a-signing';

/** Signatures of a message or an artifact. */
export interface Signatures {
  readonly signatures: readonly { readonly protected: string; readonly signature: string }[];
}

/** An interceptor that changes messages on their way to the agent. */
export function changeMessages(
  change: (message: Message) => Message | Promise<Message>,
): Interceptor<ClientCallContext> {
  return (call, next) => {
    const { request } = call;
    if (!('message' in request)) return next(call);
    const changeCall = async () => {
      const message = await change(request.message as Message);
      return { ...call, request: { ...request, message } } as typeof call;
    };
    if (call.operation === 'sendMessage') return changeCall().then(next as never) as never;
    return (async function* () {
      yield* next(await changeCall()) as AsyncIterable<StreamResponse>;
    })();
  };
}

/** An interceptor that changes the events of streams on their way to the client. `undefined` drops an event. */
export function changingEvents(
  change: (event: StreamResponse, seen: readonly StreamResponse[]) => readonly StreamResponse[],
): Interceptor<ClientCallContext> {
  return (call, next) => {
    const outcome = next(call);
    if (!(Symbol.asyncIterator in outcome)) return outcome;
    return (async function* () {
      const seen: StreamResponse[] = [];
      for await (const event of outcome) {
        yield* change(event, seen);
        seen.push(event);
      }
    })();
  };
}

/** The signatures of a message. */
export function signaturesOf(message: { readonly metadata?: Message['metadata'] }): Signatures {
  return message.metadata?.[SIGNING_EXTENSION] as unknown as Signatures;
}

/** The message with other signatures. */
export function withSignatures(message: Message, signatures: unknown): Message {
  return { ...message, metadata: { ...message.metadata, [SIGNING_EXTENSION]: { signatures } as never } };
}

/** The header of the first signature. */
export function headerOf(message: Message): Record<string, unknown> {
  const [first] = signaturesOf(message).signatures;
  return JSON.parse(Buffer.from(first?.protected ?? '', 'base64url').toString()) as Record<string, unknown>;
}

/** The text that signatures of a plain message are over, as the document of the extension tells it. */
export function textOf({ metadata, ...message }: Message): string {
  const { [SIGNING_EXTENSION]: _, ...rest } = metadata ?? {};
  return sortedJson({ ...message, ...(Object.keys(rest).length > 0 && { metadata: rest }) });
}

/** Signs the message again, with another header. */
export async function signedAgain(
  message: Message,
  key: PrivateJwk | Uint8Array,
  header: Record<string, unknown>,
): Promise<Message> {
  const secret = key instanceof Uint8Array ? key : await importJWK(key as JWK, String(key.alg));
  const payload = new TextEncoder().encode(textOf(message));
  const { payload: _, ...jws } = await new FlattenedSign(payload)
    .setProtectedHeader({ ...header } as never)
    .sign(secret, { crit: { urgent: true } });
  return withSignatures(message, [jws]);
}

/** JSON with sorted members. */
function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${sortedJson(member)}`).join()}}`;
}
