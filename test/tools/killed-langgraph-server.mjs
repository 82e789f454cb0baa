// A graph that interrupts with a question. Usage: killed-langgraph-server.mjs DATABASE_URL JOURNAL PORT CHECKPOINTS_URL
import { appendFileSync } from 'node:fs';
import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { createA2AServer } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';
import { langGraphAgent } from 'parley-a2a-langgraph';

const [, , database, journal, port, checkpoints] = process.argv;
const note = (text) => appendFileSync(journal, `${text} ${process.pid}\n`);

const checkpointer = PostgresSaver.fromConnString(checkpoints);
await checkpointer.setup();
const graph = new StateGraph(Annotation.Root({ seat: Annotation, answer: Annotation, receipt: Annotation }))
  .addNode('reserve', () => {
    note('reserve');
    return { seat: '12A' };
  })
  .addNode('ask', ({ seat }) => ({ answer: interrupt(`Pay for ${seat}?`) }))
  .addNode('pay', ({ seat, answer }) => {
    note('pay');
    return { receipt: `${seat}: ${answer}` };
  })
  .addEdge(START, 'reserve')
  .addEdge('reserve', 'ask')
  .addEdge('ask', 'pay')
  .compile({ checkpointer });
const agent = langGraphAgent({ graph, input: () => ({}), output: ({ receipt }) => receipt });
const server = createA2AServer({ agent, storage: await openStorage(database) });
const { url } = await server.listen(Number(port));
process.stdout.write(`${url}\n`);
