// A replica of the planner on PostgreSQL. Usage: planner.mjs DATABASE_URL OPTIONS. Its first attempt of a turn stops
// after the call of the writer.

import { agentCalls } from 'parley-a2a/agent-calls';
import { createA2AServer } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';
import { defineTool, jsonSchema, runTools, ToolRegistry } from 'parley-a2a/tools';
import { grpcTransport } from 'parley-a2a-grpc';
import { serverTracing } from 'parley-a2a-otel';
import { BACKENDS } from '../support/backends.ts';
import { calledOver } from './called-over.mjs';
import { exportSpans } from './span-export.ts';

const [, , database, options] = process.argv;
const { otlp, writers, secret, name } = JSON.parse(options).settings;
const provider = exportSpans(name, otlp);
const input = jsonSchema({ type: 'string' });

function toolsOf(context) {
  const lookup = defineTool({ name: 'lookup', input, idempotent: true, run: () => `found ${secret}` });
  const write = defineTool({
    name: 'write',
    input,
    run: async (text) => {
      const { task } = await context.callAgent(await calledOver(`${writers}/writer`, 'GRPC'), text);
      return task?.status.state ?? '';
    },
  });
  const publish = defineTool({ name: 'publish', input, needsApproval: true, run: () => `published ${secret}` });
  return new ToolRegistry([lookup, write, publish]);
}

const agent = {
  resumable: true,
  async execute(context, events) {
    await events.working(`working on ${secret}`);
    await runTools(context, events, toolsOf(context), async (run) => {
      await run.call('lookup', `look for ${secret}`);
      await run.call('write', `write ${secret}`);
      if (context.attempt === 1 && name === 'planner-1') {
        await events.flush();
        process.stdout.write('stopped\n');
        await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
        return;
      }
      await run.call('publish', `publish ${secret}`);
      await events.complete(`done ${secret}`);
    });
  },
};
const limits = { leaseMs: 6_000, leaseRenewalMs: 1_000, fenceMarginMs: 500, lookMs: 500 };
const storage = await openStorage(database, { backends: BACKENDS });
const server = createA2AServer({
  name: 'Planner',
  agent,
  limits,
  storage,
  push: { allow: ['127.0.0.0/8'], firstDelayMs: 50 },
  calls: agentCalls({ allow: ['127.0.0.1'], bindings: [grpcTransport()] }),
  tracing: serverTracing(),
  logRequests: false,
});
const { url } = await server.listen(0);
process.stdout.write(`${url}\n`);
process.once('SIGTERM', async () => {
  await server.close({ graceMs: 300 });
  await storage.close();
  await provider.shutdown();
  process.exit(0);
});
