import { randomBytes } from 'node:crypto';
import type { AgentCard } from 'parley-a2a';
import { answersCard, isStreaming, OPERATION_NAMES } from 'parley-a2a/binding-kit';
import {
  type CallOptions,
  type Client,
  A2AError as ClientError,
  STREAM_RESUME_EXTENSION,
  type TaskStream,
} from 'parley-a2a/client';
import { createA2AHost } from 'parley-a2a/node';
import { PushReceiver } from 'parley-a2a/push-receiver';
import { A2AError, type RequestHandler, type ServerCallContext, type StreamItem } from 'parley-a2a/server';
import { oauthRelay, PushInboxes } from 'parley-a2a-console';
import { failureOf } from '../failure/failure.js';
import { type ListenPlace, type StartedServer, startPlainServer } from '../serve/listening.js';
import { nodeListener } from '../serve/web-exchange.js';
import { type AgentClients, forRequest } from './agent-clients.js';
import { consoleGate } from './console-gate.js';
import type { FailedAgent, ShownAgent } from './shown-agents.js';

/** The path of the calls of the first agent. */
const CALLS_PATH = '/agent';
const OAUTH_PATH = '/console/oauth';
const INBOX_PATH = '/console/inbox';
/** The page sends files of up to 25 MB, in base64. The agent may accept less. */
const BODY_BYTES = 36 * 1024 * 1024;
/** The path of the public keys of an agent at its origin. */
const KEY_SET_PATH = '/.well-known/jwks.json';

/** A running console. */
interface ServedConsole extends Pick<StartedServer, 'stopped'> {
  /** The url with the token of this launch. */
  readonly url: string;
}

/** The address of a console, and the agents that could not be read. */
interface ConsolePlace extends ListenPlace {
  readonly failed: readonly FailedAgent[];
}

/** Serves the console for agents on loopback. */
export async function serveConsole(
  agents: readonly ShownAgent[],
  { failed, ...place }: ConsolePlace,
): Promise<ServedConsole> {
  const token = randomBytes(32).toString('base64url');
  const served = new Map(agents.map((agent, at) => [agent.reference, servedAgent(agent, at)]));
  const all = [...served.values()];
  const host = createA2AHost({
    agents: Object.fromEntries(all.map(({ entry, forwarding }) => [entry.calls, forwarding])),
    console: true,
    push: false,
    health: false,
    logRequests: false,
  });
  const inboxes = new PushInboxes({
    receiver: async ({ signature, ...options }, reference) => {
      const fetch = served.get(reference)?.fetch;
      const isChecked = signature !== undefined && fetch !== undefined;
      return new PushReceiver({
        ...options,
        ...(isChecked && { signature: { ...signature, fetch, plainHttp: true } }),
      });
    },
    keysUrl: (reference) => served.get(reference)?.keysUrl,
  });
  const gate = consoleGate({
    token,
    documents: {
      '/console/agents.json': () => answer({ agents: [...all.map(({ entry }) => entry), ...failed] }),
      ...Object.assign({}, ...all.map(({ documents }) => documents)),
      [OAUTH_PATH]: async (request) => {
        const relay = served.get(new URL(request.url).searchParams.get('agent') ?? '')?.relay;
        if (relay === undefined) return new Response(null, { status: 404 });
        const { body, ...init } = await relay(await request.text());
        return new Response(body, init);
      },
      [INBOX_PATH]: async (request) => {
        const { body, ...init } = await inboxes.ask(await request.text(), `${request.headers.get('origin')}/console`);
        return new Response(body, init);
      },
    },
    takeNotification: async (name, { method, headers, body: sent }) => {
      const header = (field: string) => headers.get(field) ?? undefined;
      const { status, body, ...init } = await inboxes.take(name, { method, header, body: chunksOf(sent) });
      return new Response(body === '' ? null : body, { status, ...init });
    },
    serve: (request) => forRequest(request, () => host.fetch(request)),
  });
  const { url, stopped } = await startPlainServer(nodeListener(gate), place);
  const closed = stopped.then(async () => {
    inboxes.close();
    for (const { clients } of agents) await clients.close();
    await host.close({ graceMs: 0 });
  });
  return { url: `${url}/#token=${token}`, stopped: closed };
}

type Documents = Parameters<typeof consoleGate>[0]['documents'];

/** Returns the documents of an agent for the page, and the handler of its calls. */
function servedAgent(agent: ShownAgent, at: number) {
  const { reference, card, published, verification, hasCredential, clients, fetch } = agent;
  const suffix = at === 0 ? '' : `-${at + 1}`;
  const entry = {
    path: reference,
    card: `/console/agent-card${suffix}.json`,
    calls: `${CALLS_PATH}${suffix}`,
    extendedCard: `/console/extended-card${suffix}.json`,
    hasCredential,
    ...(verification !== undefined && { verification }),
  };
  const documents: Documents = {
    [entry.card]: () => answer(published),
    [entry.extendedCard]: async (request) => {
      const client = await forRequest(request, clients.current);
      return answer(await client.getExtendedAgentCard({ signal: request.signal }));
    },
  };
  const origin = URL.parse(card.supportedInterfaces[0]?.url ?? '')?.origin;
  return {
    entry,
    documents,
    forwarding: forwardingOptions(card, clients),
    fetch,
    relay: oauthRelay({ cards: () => [card], fetch }),
    keysUrl: origin?.startsWith('http') === true ? `${origin}${KEY_SET_PATH}` : undefined,
  };
}

/** Returns the options of the agent as served by this process. Its name is only in documents that need the token. */
function forwardingOptions({ capabilities }: AgentCard, clients: AgentClients) {
  const { streaming = false, pushNotifications = false, extensions = [] } = capabilities;
  return {
    name: 'Forwarded agent',
    handler: forwardedAgent(clients.current),
    limits: { bodyBytes: BODY_BYTES },
    streaming,
    pushNotifications,
    versions: ['1.0' as const],
    // A forwarded stream has no event numbers.
    extensions: extensions.filter(({ uri }) => uri !== STREAM_RESUME_EXTENSION),
  };
}

async function* chunksOf(body: Request['body']): AsyncGenerator<Uint8Array> {
  for await (const chunk of body ?? []) yield chunk;
}

function answer(value: unknown): Response {
  return Response.json(value, { headers: { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } });
}

/** The methods of a client by operation, with untyped requests. */
type Calls = Readonly<Record<string, (request: unknown, options: CallOptions) => unknown>>;
type Forwarded = (request: unknown, context: ServerCallContext) => unknown;

/**
 * Forwards the operations of the protocol to another agent, except those for its card. `current` returns the client of
 * the current call. It is called before the first `await`.
 */
function forwardedAgent(current: () => Promise<Client>): RequestHandler {
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
    throw forwardError(error);
  }
}

async function* itemsOf(
  current: Promise<Client>,
  open: (client: Client) => TaskStream,
): AsyncGenerator<StreamItem, undefined> {
  try {
    for await (const event of open(await current)) yield { event };
  } catch (error) {
    throw forwardError(error);
  }
}

/** Passes an error of the agent on unchanged. An error of the connection gets its reason. */
function forwardError(error: unknown): A2AError {
  // The bundle of the tool has its own copy of the client, whose error classes differ from those of the server.
  if (error instanceof ClientError) return new A2AError(error.code, error.message, error.details, { cause: error });
  const { message, hint } = failureOf(error);
  const text = `The agent cannot be called: ${message}`;
  return new A2AError('UNAVAILABLE', hint === null ? text : `${text}; ${hint}`, {}, { cause: error });
}
