import type { AgentExecutor } from 'parley-a2a';
import { defineTool, jsonSchema, ToolError, ToolRegistry, toolAgent } from 'parley-a2a/tools';

const order = defineTool({
  name: 'order',
  description: 'Orders a book.',
  input: jsonSchema<{ title: string }>({ type: 'object', required: ['title'] }),
  needsApproval: true,
  run: ({ title }) => `Ordered ${title}`,
});

/** A shop of books that asks before it orders. A model could choose the tool instead. */
export const shop: AgentExecutor = toolAgent(new ToolRegistry([order]), async (run, { events }) => {
  await events.artifact('I can get that. ', { artifactId: 'response' });
  try {
    await events.complete(`${await run.call(order, { title: run.text })}.`);
  } catch (error) {
    if (!(error instanceof ToolError && error.reason === 'refused')) throw error;
    await events.complete('Then I leave it.');
  }
});
