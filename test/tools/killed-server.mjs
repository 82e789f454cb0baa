// An agent whose tools write a journal. Usage: killed-server.mjs DATABASE_URL JOURNAL PORT [once]
import { appendFileSync, existsSync } from 'node:fs';
import { createA2AServer } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';
import { defineTool, jsonSchema, runTools, ToolRegistry } from 'parley-a2a/tools';

const [, , database, journal, port, once] = process.argv;
const isFirst = !existsSync(journal);
const text = jsonSchema({ type: 'string' });

/** Writes that it runs, and ends only in a process that began with a journal. */
const stuck = (name, idempotent) =>
  defineTool({
    name,
    input: text,
    idempotent,
    run: (input, { callId }) => {
      appendFileSync(journal, `${name} ${callId} ${process.pid}\n`);
      return isFirst ? new Promise(() => {}) : `${name} of ${input}`;
    },
  });
/** Never ends, in no process. */
const endless = defineTool({ name: 'endless', input: text, idempotent: true, run: () => new Promise(() => {}) });
const quick = defineTool({
  name: 'quick',
  input: text,
  run: (input, { callId }) => {
    appendFileSync(journal, `quick ${callId} ${process.pid}\n`);
    return `quick of ${input}`;
  },
});
const paid = defineTool({ ...quick, name: 'paid', needsApproval: true });

const tools = new ToolRegistry([quick, paid, endless, stuck('repeatable', true), stuck('charge', false)]);
const agent = {
  resumable: once === undefined,
  execute: (context, events) =>
    runTools(context, events, tools, async (run) => {
      const found = [await run.call('quick', 'one')];
      const calls = run.text.split(' ').map((name) => run.call(name, 'two'));
      const settled = await Promise.allSettled(calls);
      for (const one of settled) {
        if (one.status === 'rejected' && one.reason.name === 'ApprovalNeededError') throw one.reason;
        found.push(one.status === 'fulfilled' ? one.value : one.reason.reason);
      }
      await events.complete(found.join(', '));
    }),
};
const server = createA2AServer({ agent, storage: await openStorage(database) });
const { url } = await server.listen(Number(port));
process.stdout.write(`${url}\n`);
