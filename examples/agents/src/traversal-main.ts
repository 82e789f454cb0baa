import { parseArgs } from 'node:util';
import { textLogger } from 'parley-a2a';
import { createA2AHost } from 'parley-a2a/node';
import { grpcBinding } from 'parley-a2a-grpc';
import { systemClock } from './agent-clock.js';
import { traversalAgent } from './traversal-agent.js';
import { HTTP_JSON, JSON_RPC, rootCard } from './traversal-card.js';

const HOST = '127.0.0.1';
/** Webhooks of this machine. */
const LOOPBACK = ['localhost', '*.localhost', '127.0.0.0/8', '::1'];

const { values } = parseArgs({
  options: { httpPort: { type: 'string', default: '10100' }, grpcPort: { type: 'string', default: '11000' } },
});
const logger = textLogger({ write: (line) => process.stdout.write(line), now: Date.now, level: 'info' });
const host = createA2AHost({
  agents: { [JSON_RPC]: traversalAgent({ clock: systemClock }), [HTTP_JSON]: { sameAs: JSON_RPC } },
  // The other agents of a ring find gRPC in the card.
  bindings: [grpcBinding({ agent: JSON_RPC, port: Number(values.grpcPort), listed: 'public' }), rootCard],
  push: { allow: LOOPBACK },
  logger,
});

const stop = async () => {
  await host.close({ graceMs: 500 });
  process.exit(0);
};
process.on('SIGTERM', stop);
process.on('SIGINT', stop);

const { url } = await host.listen(Number(values.httpPort), HOST);
logger.info(`listening on ${url}`, { grpcPort: Number(values.grpcPort) });
