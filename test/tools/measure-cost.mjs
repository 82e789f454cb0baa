// Prints the cost of calls of tools, in status events. Usage: measure-cost.mjs SQLITE_URL
import { connect } from 'parley-a2a';
import { createA2AServer } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';
import { defineTool, jsonSchema, runTools, ToolRegistry } from 'parley-a2a/tools';

const ROUNDS = 21;
/** The first rounds compile the code. */
const WARM = 3;

/** The middle of the ratios of pairs that are measured one after the other. */
function median(values) {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];
}

const text = jsonSchema({ type: 'string' }, { check: (value) => value });
const quick = defineTool({ name: 'quick', input: text, idempotent: true, run: (value) => value });
const charge = defineTool({ name: 'charge', input: text, run: (value) => value });

async function ratio(storage, { tool, calls, commits }) {
  const found = [];
  const agent = {
    async execute(context, events) {
      const timed = async (work) => {
        const start = performance.now();
        for (let at = 0; at < calls; at += 1) {
          await work();
          if (commits) await events.flush();
        }
        await events.flush();
        return performance.now() - start;
      };
      const body = async (run) => {
        for (let round = 0; round < ROUNDS; round += 1) {
          const called = await timed(() => run.call(tool, 'Dune'));
          found.push(called / (await timed(() => events.working('Looking for the book in stock'))));
        }
        await events.complete();
      };
      const limits = { callsPerTask: 1_000_000 };
      await runTools(context, events, new ToolRegistry([quick, charge]), body, { limits });
    },
  };
  const server = createA2AServer({ agent, ...(storage && { storage }) });
  const { url } = await server.listen(0);
  const client = await connect(url);
  const answer = await client.sendMessage({ message: 'go', configuration: { returnImmediately: true } });
  await client.waitFor(answer.task.id);
  await server.close({ graceMs: 0 });
  // A cost that grows with the number of calls shows in the last rounds.
  const growth = median(found.slice(-6)) / median(found.slice(WARM, WARM + 6));
  return { cost: median(found.slice(WARM)), growth };
}

const sqlite = await openStorage(process.argv[2]);
const memory = await ratio(undefined, { tool: quick, calls: 200, commits: false });
const durable = await ratio(sqlite, { tool: quick, calls: 100, commits: true });
const once = await ratio(sqlite, { tool: charge, calls: 100, commits: true });
await sqlite.close();
const figures = {
  memory: memory.cost,
  memoryGrowth: memory.growth,
  sqlite: durable.cost,
  sqliteGrowth: durable.growth,
  // Two commits: the beginning before the run, and the result.
  sqliteOnce: once.cost,
  sqliteOncePerCommit: once.cost / 2,
};
process.stdout.write(JSON.stringify(figures));
