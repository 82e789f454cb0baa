// The library's own server as it stands behind a proxy: its tasks in a file, one peer trusted.
import { subscribe } from 'node:diagnostics_channel';
import { createA2AHost } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';
import { agentOptions, NAMES } from './agents.mjs';

const { options, streams } = agentOptions();
const connections = new Set();
let requests = 0;
subscribe('http.server.request.start', ({ request, response }) => {
  connections.add(request.socket);
  requests++;
  response.once('close', () => requests--);
});
Object.defineProperty(streams, 'open', { get: () => requests - 1 });
Object.defineProperty(streams, 'connections', { get: () => connections.size });
const { streamHeartbeatMs, ...open } = options.open;
const agents = { ...options, open };
const host = createA2AHost({
  agents: Object.fromEntries(NAMES.map((name) => [`/agents/${name}`, agents[name]])),
  storage: await openStorage(process.env.DATABASE_URL),
  trustProxy: ['127.0.0.1'],
  // nginx names its upstream in the Host header, and itself in X-Forwarded-Host. It takes prefixes off.
  publicHosts: [
    'agents',
    '127.0.0.1/a2a',
    '127.0.0.1/rfc7239',
    '127.0.0.1/bare',
    '127.0.0.1/impatient',
    '127.0.0.1/too-impatient',
  ],
  streamHeartbeatMs,
});
await host.listen(Number(process.env.PORT));
console.log('ready');
