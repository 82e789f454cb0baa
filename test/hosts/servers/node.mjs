import { subscribe } from 'node:diagnostics_channel';
import { createA2AHost } from 'parley-a2a/node';
import { agentOptions, NAMES } from './agents.mjs';

const { options, streams } = agentOptions();
// Requests that are under way, but for the one that asks.
let requests = 0;
subscribe('http.server.request.start', ({ response }) => {
  requests++;
  response.once('close', () => requests--);
});
Object.defineProperty(streams, 'open', { get: () => requests - 1 });
const { streamHeartbeatMs, ...open } = options.open;
const agents = { ...options, open };
const host = createA2AHost({
  agents: Object.fromEntries(NAMES.map((name) => [`/agents/${name}`, agents[name]])),
  streamHeartbeatMs,
});
await host.listen(Number(process.env.PORT));
console.log('ready');
