// Prints the cost of calls of tools, in status events. Usage: measure-cost.mjs SQLITE_URL
import { connect } from 'parley-a2a';
import { createA2AServer } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';
import { defineTool, jsonSchema, runTools, ToolRegistry } from 'parley-a2a/tools';

const ROUNDS = process.env.TEST_LONG === undefined ? 21 : 31;
/** The first rounds compile the code. */
const WARM = 5;

/** The middle of the ratios of pairs that are measured one after the other. */
function median(values) {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];
}

const text = jsonSchema({ type: 'string' }, { check: (value) => value });
const quick = defineTool({ name: 'quick', input: text, idempotent: true, run: (value) => value });
const charge = defineTool({ name: 'charge', input: text, run: (value) => value });

/** The time and the time of the processor that work takes, in ms. */
async function cost(work) {
  const [start, used] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(used);
  return { time: performance.now() - start, cpu: (user + system) / 1000 };
}

/** `committed`: statuses wait for their commit, and calls of an idempotent tool too. Other calls wait by themselves. */
async function ratio(storage, { tool, calls, committed }) {
  const found = [];
  const over = Promise.withResolvers();
  const agent = {
    async execute(context, events) {
      const waits = committed && tool.idempotent;
      const repeated = async (work, flushes) => {
        for (let at = 0; at < calls; at += 1) {
          await work();
          if (flushes) await events.flush();
        }
        await events.flush();
      };
      const body = async (run) => {
        for (let round = 0; round < ROUNDS; round += 1) {
          const called = await cost(() => repeated(() => run.call(tool, 'Dune'), waits));
          const told = await cost(() => repeated(() => events.working('Looking for the book in stock'), committed));
          found.push({ time: called.time / told.time, cpu: called.cpu / told.cpu });
        }
        await events.complete();
        over.resolve();
      };
      const limits = { callsPerTask: 1_000_000 };
      await runTools(context, events, new ToolRegistry([quick, charge]), body, { limits });
    },
  };
  const server = createA2AServer({ agent, ...(storage && { storage }) });
  const { url } = await server.listen(0);
  const client = await connect(url);
  await client.sendMessage({ message: 'go', configuration: { returnImmediately: true } });
  await over.promise;
  await server.close({ graceMs: 0 });
  const times = found.map(({ time }) => time);
  const costs = found.map(({ cpu }) => cpu);
  // A cost that grows with the number of calls shows in the last rounds.
  const growth = median(costs.slice(-8)) / median(costs.slice(WARM, WARM + 8));
  return { time: median(times.slice(WARM)), cpu: median(costs.slice(WARM)), growth };
}

const sqlite = await openStorage(process.argv[2]);
const figures = {
  memory: await ratio(undefined, { tool: quick, calls: 200, committed: true }),
  memoryBuffered: await ratio(undefined, { tool: quick, calls: 200, committed: false }),
  sqlite: await ratio(sqlite, { tool: quick, calls: 100, committed: true }),
  // The beginning is committed before the run, and the result with the next event.
  sqliteOnce: await ratio(sqlite, { tool: charge, calls: 100, committed: true }),
};
await sqlite.close();
process.stdout.write(JSON.stringify(figures));
