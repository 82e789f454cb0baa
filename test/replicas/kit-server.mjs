// One replica of an agent with tools and memory. Usage: kit-server.mjs DATABASE_URL OPTIONS. The options are JSON:
// `journal` is the file that gets a line for each run of a tool. With `isStuck` most of the tools never end.
// Its first line of output is its address.
import { appendFileSync } from 'node:fs';
import { createA2AServer } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';
import { defineTool, jsonSchema, ToolRegistry, toolAgent } from 'parley-a2a/tools';
import { capnwebBinding } from 'parley-a2a-capnweb';
import { grpcBinding } from 'parley-a2a-grpc';
import { BACKENDS } from '../support/backends.ts';

const { journal, isStuck = false, leaseMs = 3_000 } = JSON.parse(process.argv[3] ?? '{}');

/** A tool that writes its run and the task into the journal. */
const written = (name, { canHang = false, ...options } = {}) =>
  defineTool({
    ...options,
    name,
    input: jsonSchema({ type: 'string' }),
    run: (input, { callId, taskId }) => {
      appendFileSync(journal, `${taskId} ${name} ${callId}\n`);
      return canHang && isStuck ? new Promise(() => {}) : `${name} of ${input}`;
    },
  });
const tools = new ToolRegistry([
  written('quick'),
  written('paid', { canHang: true, needsApproval: true }),
  written('repeatable', { canHang: true, idempotent: true }),
  written('charge', { canHang: true }),
]);

/** Calls `quick`, then the tools whose names are the words of the prompt, at the same time. */
const agent = toolAgent(tools, async (run, { context, events }) => {
  if (run.text === 'remember') {
    const entries = await context.conversation();
    const told = entries.map(({ role, text, artifact }) => `${artifact?.artifactId ?? role}: ${text}`);
    await events.artifact(told.join('\n'));
    return events.complete('remembered');
  }
  const found = [await run.call('quick', 'one')];
  await events.artifact(found[0], { artifactId: 'found' });
  const settled = await Promise.allSettled(run.text.split(' ').map((name) => run.call(name, 'two')));
  for (const one of settled) {
    if (one.status === 'rejected' && one.reason.name === 'ApprovalNeededError') throw one.reason;
    found.push(one.status === 'fulfilled' ? one.value : one.reason.reason);
  }
  await events.complete(found.join(', '));
});

const server = createA2AServer({
  agent,
  storage: await openStorage(process.argv[2], { backends: BACKENDS }),
  limits: { leaseMs, leaseRenewalMs: leaseMs / 3, fenceMarginMs: 500, lookMs: 1_000 },
  bindings: [capnwebBinding(), grpcBinding({ port: 0, listed: 'public' })],
  logRequests: false,
});
const { url } = await server.listen(0);
process.stdout.write(`${url}\n`);
