import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AgentCard } from 'parley-a2a';
import { type Fetch, STREAM_RESUME_EXTENSION } from 'parley-a2a/client';
import { createA2AHost } from 'parley-a2a/node';
import { PushReceiver } from 'parley-a2a/push-receiver';
import { oauthRelay, PushInboxes } from 'parley-a2a-console';
import type { CardVerification } from '../agent/card-signatures.js';
import { type ListenPlace, type StartedServer, started } from '../serve/listening.js';
import { nodeListener } from '../serve/web-exchange.js';
import type { AgentClients } from './agent-clients.js';
import { consoleGate } from './console-gate.js';
import { forwardedAgent } from './forwarded-agent.js';

/** The path of the agent's calls. */
const CALLS_PATH = '/agent';
const CARD_PATH = '/console/agent-card.json';
const EXTENDED_CARD_PATH = '/console/extended-card.json';
const OAUTH_PATH = '/console/oauth';
const INBOX_PATH = '/console/inbox';
/** The public keys of an agent, below its origin. */
const KEY_SET_PATH = '/.well-known/jwks.json';

/** The agent that the console shows. */
export interface ShownAgent {
  /** The name of the agent in the page: the address by which the user knows it. */
  readonly reference: string;
  readonly card: AgentCard;
  /** The card as the agent publishes it. */
  readonly published: unknown;
  /** Undefined if no flag names a key. */
  readonly verification: CardVerification | undefined;
  /** True if the tool has credentials for the agent. */
  readonly hasCredential: boolean;
  readonly clients: AgentClients;
  /** Sends requests to the authorization servers of the card, to public addresses unless the agent is private. */
  readonly fetch: Fetch;
}

/** A console that listens. */
export interface ServedConsole extends Pick<StartedServer, 'stopped'> {
  /** The url with the token of this launch. */
  readonly url: string;
}

/** Serves the console for an agent on loopback. */
export async function serveConsole(agent: ShownAgent, place: ListenPlace): Promise<ServedConsole> {
  const { reference, card, published, verification, hasCredential, clients, fetch } = agent;
  const token = randomBytes(32).toString('base64url');
  const entry = {
    path: reference,
    card: CARD_PATH,
    calls: CALLS_PATH,
    extendedCard: EXTENDED_CARD_PATH,
    hasCredential,
    ...(verification !== undefined && { verification }),
  };
  const host = createA2AHost({
    agents: { [CALLS_PATH]: forwarding(card, clients) },
    console: true,
    push: false,
    health: false,
    logRequests: false,
  });
  const relay = oauthRelay({ cards: () => [card], fetch });
  const inboxes = new PushInboxes({
    receiver: async ({ signature, ...options }) =>
      new PushReceiver({
        ...options,
        ...(signature !== undefined && { signature: { ...signature, fetch, plainHttp: true } }),
      }),
    keysUrl: () => {
      const origin = URL.parse(card.supportedInterfaces[0]?.url ?? '')?.origin;
      return origin?.startsWith('http') === true ? `${origin}${KEY_SET_PATH}` : undefined;
    },
  });
  const gate = consoleGate({
    token,
    documents: {
      '/console/agents.json': () => answer({ agents: [entry] }),
      [CARD_PATH]: () => answer(published),
      [EXTENDED_CARD_PATH]: async (request) => {
        const client = await clients.forRequest(request, clients.current);
        return answer(await client.getExtendedAgentCard({ signal: request.signal }));
      },
      [OAUTH_PATH]: async (request) => {
        const { body, ...init } = await relay(await request.text());
        return new Response(body, init);
      },
      [INBOX_PATH]: async (request) => {
        const { body, ...init } = await inboxes.ask(await request.text(), request.headers.get('origin') ?? '');
        return new Response(body, init);
      },
    },
    takeNotification: async (name, { method, headers, body: sent }) => {
      const header = (field: string) => headers.get(field) ?? undefined;
      const { status, body, ...init } = await inboxes.take(name, { method, header, body: chunksOf(sent) });
      return new Response(body === '' ? null : body, { status, ...init });
    },
    serve: (request) => clients.forRequest(request, () => host.fetch(request)),
  });
  const { url, stopped } = await started(createServer(nodeListener(gate)), place);
  const closed = stopped.then(async () => {
    inboxes.close();
    await clients.close();
    await host.close({ graceMs: 0 });
  });
  return { url: `${url}/#token=${token}`, stopped: closed };
}

/** The agent as this process serves it. Its name stays with the documents that need the token. */
function forwarding({ capabilities }: AgentCard, clients: AgentClients) {
  const { streaming = false, pushNotifications = false, extensions = [] } = capabilities;
  return {
    name: 'Forwarded agent',
    handler: forwardedAgent(clients.current),
    streaming,
    pushNotifications,
    versions: ['1.0' as const],
    // A stream that goes through this process has no event numbers.
    extensions: extensions.filter(({ uri }) => uri !== STREAM_RESUME_EXTENSION),
  };
}

async function* chunksOf(body: Request['body']): AsyncGenerator<Uint8Array> {
  for await (const chunk of body ?? []) yield chunk;
}

function answer(value: unknown): Response {
  return Response.json(value, { headers: { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } });
}
