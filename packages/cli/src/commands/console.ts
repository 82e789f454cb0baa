import type { ConnectOptions, Fetch } from 'parley-a2a/client';
import type { RequestCredentials } from 'parley-a2a/credentials';
import { agentOptions } from '../agent/agent-options.js';
import { agentTarget } from '../agent/agent-target.js';
import { readCard } from '../agent/read-card.js';
import { connected } from '../agent/with-agent.js';
import type { Invocation } from '../command-line/invocation.js';
import { AgentClients } from '../console/agent-clients.js';
import { openBrowser } from '../console/open-browser.js';
import { serveConsole } from '../console/serve-console.js';
import { portOf } from '../serve/listening.js';

/** The credentials of the tool go to no authorization server. */
const ANONYMOUS = { credentials: async () => ({}) };

/** Serves the console for an agent on loopback, until a signal ends it. */
export async function run(invocation: Invocation): Promise<number> {
  const { args, settings, output } = invocation;
  const target = agentTarget(invocation, args[0]);
  const { connect: given, credentials, signatures } = await agentOptions(invocation, target);
  const connect = settings.setting('a2a-version') === undefined ? anyVersion(given) : given;
  const port = settings.setting('port')?.source === 'flag' ? portOf(settings.text('port')) : 0;
  const { fetchAgentCard } = await import('parley-a2a/client');
  let published: unknown;
  const onDocument = (document: unknown): void => {
    published = document;
  };
  // The page tells whether a trusted key has signed the card. The calls need such a signature, if a flag names a key.
  const { signatures: _, ...unchecked } = connect;
  const card = await readCard(fetchAgentCard(target, { ...unchecked, onDocument }));
  if (signatures !== undefined) await fetchAgentCard(target, connect).catch(() => {});
  const clients = new AgentClients((credential) =>
    connected(
      target,
      { ...connect, ...(credential !== undefined && { credentials: { credentials: async () => credential } }) },
      settings,
    ),
  );
  const reference = typeof target === 'string' ? target : (card.supportedInterfaces[0]?.url ?? card.name);
  // A login that has ended is told by the calls. The page offers another sign-in.
  const own: RequestCredentials = await credentials.credentials({ card, url: reference }).catch(() => ({}));
  const hasCredential = Object.keys({ ...own.headers, ...own.query }).length > 0;
  const verification = signatures?.verification;
  const stranger = connected(target, { ...connect, credentials: ANONYMOUS, headers: {} }, settings);
  stranger.catch(() => {});
  const fetch: Fetch = async (url, init) => (await stranger).request(url, init);
  const agent = { reference, card, published, verification, hasCredential, clients, fetch };
  const { url, stopped } = await serveConsole(agent, { port, host: '127.0.0.1' });
  if (output.json) output.line({ name: card.name, agent: reference, url });
  else {
    output.field('Agent', card.name);
    output.field('Console', url);
  }
  if (output.isRead && !settings.isOn('no-open')) openBrowser(url);
  await stopped;
  return 0;
}

/** The options for agents of every version. Those with several are called in the newest. */
function anyVersion({ version: newest = '1.0', prefer = [], ...options }: ConnectOptions): ConnectOptions {
  return { ...options, prefer: [...prefer, newest] };
}
