import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Invocation } from '../command-line/invocation.js';
import { usageError } from '../failure/cli-error.js';
import { portOf, startPlainServer, tellListening } from './listening.js';
import { ProxiedExchange } from './proxied-exchange.js';
import { fileLog, readableLog, redactedLog, type TrafficLog } from './traffic-log.js';

/** Forwards all requests to another agent and logs them. The card of that agent then contains this address. */
export async function serveProxy({ settings, output }: Invocation, target: string): Promise<number> {
  const base = URL.parse(target);
  if (base === null || !/^https?:$/.test(base.protocol))
    throw usageError(`--proxy takes an http or https URL, not "${target}"`);
  const file = settings.text('traffic-log');
  const secretNames = new Set<string>();
  const log: TrafficLog = redactedLog(
    file === undefined ? readableLog((line) => output.note(line)) : fileLog(file, Date.now),
    secretNames,
  );
  const onSecretName = (name: string) => void secretNames.add(name);
  let exchanges = 0;
  let own = '';
  const place = { port: portOf(settings.text('port')), host: settings.text('host') ?? '127.0.0.1' };
  const { isLocalHost } = await import('parley-a2a/node');
  const isOpenToPages = !isLocalHost(place.host);
  if (isOpenToPages && !settings.isOn('allow-anonymous')) {
    const problem = `A proxy asks for no credential, and ${place.host} is reachable from other machines`;
    throw usageError(`${problem}. --allow-anonymous serves it nevertheless`, 'leave out --host');
  }
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const { host } = request.headers;
    // A page of another origin sends another host (DNS rebinding). A request without a host does not come from a
    // browser.
    const isKnown = host === undefined || isLocalHost(host) || host === URL.parse(own)?.host;
    if (!isOpenToPages && !isKnown) return refuseHost(response);
    exchanges++;
    const exchange = new ProxiedExchange({
      number: exchanges,
      target: base.href.replace(/\/$/, ''),
      own,
      log,
      onSecretName,
    });
    exchange.run(request, response).catch(() => response.destroy());
  };
  const { url, stopped } = await startPlainServer(listener, place);
  own = settings.text('public-url')?.replace(/\/$/, '') ?? url;
  tellListening(output, { name: `Proxy of ${base.host}`, url: own, card: `${own}/.well-known/agent-card.json` });
  await stopped;
  return 0;
}

function refuseHost(response: ServerResponse): void {
  const message = 'This proxy takes only requests for hosts of this machine. --public-url allows another host.';
  response
    .writeHead(421, { 'content-type': 'application/json', connection: 'close' })
    .end(JSON.stringify({ error: { code: 421, message } }));
}
