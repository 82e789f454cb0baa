import { MemorySaver } from '@langchain/langgraph';
import { createA2AServer } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';
import { langGraphAgent } from 'parley-a2a-langgraph';
import { receiptOf, refundGraph } from './refund-graph.js';

const { PORT = '8080' } = process.env;

const storage = await openStorage('sqlite:./data/langgraph.db');
const server = createA2AServer({
  name: 'Refunds',
  description: 'Refunds an order, such as "Refund 50 euros"',
  // A checkpointer on a database would keep the questions over a restart.
  agent: langGraphAgent({
    graph: refundGraph(new MemorySaver()),
    input: ({ text }) => ({ request: text }),
    output: receiptOf,
  }),
  storage,
});
const { url } = await server.listen(Number(PORT));
console.log(`Listening on ${url}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await server.close();
    await storage.close();
  });
}
