import { receivedChallenges } from '../../../../../packages/parley/src/auth/challenge.js';
import type { Fetch } from '../../../../../packages/parley/src/bindings/http/http-caller.js';
import { serviceHeaders, withQuery } from '../../../../../packages/parley/src/bindings/http/service-parameters.js';
import type {
  ClientTransport,
  OpenedStream,
  ReceivedEvent,
  TransportCall,
} from '../../../../../packages/parley/src/client/client-transport.js';
import type { A2AError } from '../../../../../packages/parley/src/errors/a2a-error.js';
import { ConnectionError } from '../../../../../packages/parley/src/errors/connection-error.js';
import { receivedError } from '../../../../../packages/parley/src/errors/received-error.js';
import type { AgentInterface } from '../../../../../packages/parley/src/model/agent-card.js';
import type { StreamResponse } from '../../../../../packages/parley/src/model/stream-response.js';
import type {
  OperationTypes,
  StreamingOperationName,
  UnaryOperationName,
} from '../../../../../packages/parley/src/operations/operations.js';

/** Calls an agent in lines. */
export class LinesTransport implements ClientTransport {
  readonly agentInterface: AgentInterface;
  readonly #request: Fetch;

  constructor(agentInterface: AgentInterface, request: Fetch) {
    this.agentInterface = agentInterface;
    this.#request = request;
  }

  async call<Name extends UnaryOperationName>(call: TransportCall<Name>): Promise<OperationTypes[Name]['response']> {
    const response = await this.#send(call);
    const [word, json = ''] = split(await response.text());
    if (word === 'error') throw errorOf(response, json);
    return JSON.parse(json) as OperationTypes[Name]['response'];
  }

  async stream(call: TransportCall<StreamingOperationName>): Promise<OpenedStream> {
    const response = await this.#send(call);
    if (response.ok) call.opened?.();
    const events = eventsOf(response, linesOf(response));
    // A body that was aborted before cannot be closed.
    const leave = () => events.return(undefined).catch(() => ({ value: undefined, done: true }) as const);
    return { first: await events.next(), events: { next: () => events.next(), return: leave } };
  }

  async #send(call: TransportCall): Promise<Response> {
    const { url, protocolVersion } = this.agentInterface;
    const { operation, request, query, signal } = call;
    const headers = serviceHeaders(protocolVersion, call);
    const body = `${operation}\n${JSON.stringify(request)}`;
    try {
      return await this.#request(withQuery(url, query), { method: 'POST', headers, body, signal: signal ?? null });
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      throw new ConnectionError('The agent cannot be reached', { sent: true, cause });
    }
  }
}

async function* eventsOf(
  response: Response,
  lines: AsyncIterable<string>,
): AsyncGenerator<readonly ReceivedEvent[], undefined> {
  for await (const line of lines) {
    const [word, rest] = split(line);
    if (word === 'error') throw errorOf(response, rest);
    const [id, json = ''] = split(rest);
    const event = JSON.parse(json) as StreamResponse;
    yield [id === '' ? { event } : { event, id }];
  }
  return undefined;
}

async function* linesOf({ body }: Response): AsyncGenerator<string, undefined> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    yield* lines;
  }
  return undefined;
}

/** The text before the first space, and the text after it. */
function split(text: string): readonly [string, string] {
  const at = text.indexOf(' ');
  return [text.slice(0, at), text.slice(at + 1)];
}

function errorOf({ headers }: Response, json: string): A2AError {
  return receivedError({ ...(JSON.parse(json) as A2AError), challenges: receivedChallenges(headers) });
}
