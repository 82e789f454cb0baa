import type { AgentExecutor } from 'parley-a2a/server';
import { defineTool, ToolError, ToolRegistry, toolAgent } from 'parley-a2a/tools';
import { z } from 'zod';

const PRICES: Readonly<Record<string, number>> = { Dune: 12, Emma: 8, Ulysses: 40 };
/** An order up to this price needs no approval. */
const FREE_EUROS = 10;

const price = defineTool({
  name: 'price',
  description: 'The price of a book in euros',
  input: z.object({ title: z.string() }),
  output: z.number(),
  idempotent: true,
  run: ({ title }) => {
    const euros = PRICES[title];
    if (euros === undefined) throw new ToolError(`There is no book ${title}.`);
    return euros;
  },
});

const order = defineTool({
  name: 'order',
  description: 'Orders a book',
  input: z.object({ title: z.string(), euros: z.number() }),
  output: z.string(),
  needsApproval: ({ euros }) => euros > FREE_EUROS,
  timeoutMs: 10_000,
  run: ({ title, euros }, { callId }) => `${title} for ${euros} euros, order ${callId}`,
});

/** An agent that sells the book that a message names. The owner of the task approves expensive orders. */
export const bookShop: AgentExecutor = toolAgent(new ToolRegistry([price, order]), async (run, { events }) => {
  const title = run.text.trim();
  const euros = await run.call(price, { title });
  await events.complete(await run.call(order, { title, euros }));
});
