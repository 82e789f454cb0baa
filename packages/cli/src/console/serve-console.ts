import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AgentCard } from 'parley-a2a';
import { STREAM_RESUME_EXTENSION } from 'parley-a2a/client';
import { createA2AHost } from 'parley-a2a/node';
import { PushReceiver } from 'parley-a2a/push-receiver';
import { oauthRelay, PushInboxes } from 'parley-a2a-console';
import { type ListenPlace, type StartedServer, started } from '../serve/listening.js';
import { nodeListener } from '../serve/web-exchange.js';
import { type AgentClients, forRequest } from './agent-clients.js';
import { consoleGate } from './console-gate.js';
import { forwardedAgent } from './forwarded-agent.js';
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
  const { url, stopped } = await started(createServer(nodeListener(gate)), place);
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
    forwarding: forwarding(card, clients),
    fetch,
    relay: oauthRelay({ cards: () => [card], fetch }),
    keysUrl: origin?.startsWith('http') === true ? `${origin}${KEY_SET_PATH}` : undefined,
  };
}

/** The agent as served by this process. Its name is only in documents that need the token. */
function forwarding({ capabilities }: AgentCard, clients: AgentClients) {
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
