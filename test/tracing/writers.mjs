// Two agents behind the planner. Usage: writers.mjs OTLP_URL OPTIONS. The writer, over gRPC, asks the reader, over
// Cap'n Web.

import { agentCalls } from 'parley-a2a/agent-calls';
import { createA2AHost } from 'parley-a2a/node';
import { CAPNWEB_BINDING, capnwebBinding, capnwebTransport } from 'parley-a2a-capnweb';
import { grpcBinding } from 'parley-a2a-grpc';
import { serverTracing } from 'parley-a2a-otel';
import { calledOver } from './called-over.mjs';
import { exportSpans } from './span-export.ts';

const [, , otlp, options] = process.argv;
const { secret } = JSON.parse(options).settings;
const provider = exportSpans('writers', otlp);
let base = '';
const writer = {
  async execute(context, events) {
    await context.callAgent(await calledOver(`${base}/reader`, CAPNWEB_BINDING), `read ${secret}`);
    await events.complete(`written ${secret}`);
  },
};
const host = createA2AHost({
  agents: {
    '/writer': { name: 'Writer', agent: writer },
    '/reader': { name: 'Reader', agent: () => `read ${secret}` },
  },
  bindings: [grpcBinding({ port: 0, agent: '/writer', listed: 'public' }), capnwebBinding()],
  calls: agentCalls({ allow: ['127.0.0.1'], bindings: [capnwebTransport()] }),
  tracing: serverTracing(),
  logRequests: false,
});
const { url } = await host.listen(0);
base = url;
process.stdout.write(`${url}\n`);
process.once('SIGTERM', async () => {
  await host.close({ graceMs: 300 });
  await provider.shutdown();
  process.exit(0);
});
