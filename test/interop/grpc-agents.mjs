// The example agents with a port of gRPC for each of them, on free ports. The examples themselves serve one over gRPC.

import { createA2AHost } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';
import { grpcBinding } from 'parley-a2a-grpc';
import { systemClock } from '../../examples/agents/dist/agent-clock.js';
import { complianceAgent } from '../../examples/agents/dist/compliance-agent.js';
import { echoAgent } from '../../examples/agents/dist/echo-agent.js';
import { readExampleConfig } from '../../examples/agents/dist/example-config.js';
import { helloAgent } from '../../examples/agents/dist/hello-agent.js';
import { spec03Agent, specAgent } from '../../examples/agents/dist/spec-agent.js';

const { streamingTimeoutMs } = readExampleConfig(process.env);
const tools = { clock: systemClock, streamingTimeoutMs };
const agents = {
  '/': complianceAgent(tools),
  '/tck': { sameAs: '/', versions: ['1.0'] },
  '/echo': echoAgent(),
  '/hello': helloAgent(),
  '/spec': specAgent(tools),
  '/spec03': spec03Agent(tools),
};
const host = createA2AHost({
  agents,
  storage: await openStorage(process.env.DATABASE_URL ?? 'memory:'),
  bindings: ['/', '/echo', '/hello', '/spec', '/spec03'].map((agent) =>
    grpcBinding({ agent, port: 0, listed: 'public' }),
  ),
  push: { allow: ['127.0.0.0/8'] },
});
const { url } = await host.listen(Number(process.env.PORT ?? 0));
console.log(JSON.stringify({ msg: `listening on ${url}` }));
