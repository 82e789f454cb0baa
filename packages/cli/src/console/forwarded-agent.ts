import { answersCard, isStreaming, OPERATION_NAMES } from 'parley-a2a/binding-kit';
import { type CallOptions, type Client, A2AError as ClientError, type TaskStream } from 'parley-a2a/client';
import { A2AError, type RequestHandler, type ServerCallContext, type StreamItem } from 'parley-a2a/server';
import { failureOf } from '../failure/failure.js';

/** The methods of a client by operation, with untyped requests. */
type Calls = Readonly<Record<string, (request: unknown, options: CallOptions) => unknown>>;
type Forwarded = (request: unknown, context: ServerCallContext) => unknown;

/**
 * Forwards the operations of the protocol to another agent, except those for its card. `current` returns the client of
 * the current call. It is called before the first `await`.
 */
export function forwardedAgent(current: () => Promise<Client>): RequestHandler {
  const forwarders = OPERATION_NAMES.filter((name) => !answersCard(name)).map((name): [string, Forwarded] => {
    const call = (client: Client, request: unknown, { signal, extensions }: ServerCallContext) =>
      (client as unknown as Calls)[name]?.(request, { signal, extensions });
    return [
      name,
      isStreaming(name)
        ? (request, context) => itemsOf(current(), (client) => call(client, request, context) as TaskStream)
        : (request, context) => answerOf(current(), (client) => call(client, request, context)),
    ];
  });
  return Object.fromEntries(forwarders) as unknown as RequestHandler;
}

async function answerOf(current: Promise<Client>, run: (client: Client) => unknown): Promise<unknown> {
  try {
    return await run(await current);
  } catch (error) {
    throw forwarded(error);
  }
}

async function* itemsOf(
  current: Promise<Client>,
  open: (client: Client) => TaskStream,
): AsyncGenerator<StreamItem, undefined> {
  try {
    for await (const event of open(await current)) yield { event };
  } catch (error) {
    throw forwarded(error);
  }
}

/** Passes an error of the agent on unchanged. An error of the connection gets its reason. */
function forwarded(error: unknown): A2AError {
  // The bundle of the tool has its own copy of the client, whose error classes differ from those of the server.
  if (error instanceof ClientError) return new A2AError(error.code, error.message, error.details, { cause: error });
  const { message, hint } = failureOf(error);
  const text = `The agent cannot be called: ${message}`;
  return new A2AError('UNAVAILABLE', hint === null ? text : `${text}; ${hint}`, {}, { cause: error });
}
