import { createA2AServer } from 'parley-a2a/node';
import { shop } from './agent.js';
import { chatServer } from './server.js';

const { PORT = '3000', AGENT_PORT = '8080' } = process.env;
const page = `http://localhost:${PORT}`;

const agent = createA2AServer({ name: 'Book shop', agent: shop, cors: [page] });
const { url } = await agent.listen(Number(AGENT_PORT));
// Without `url` the page calls the agent through its own server.
const server = await chatServer(agent, process.argv.includes('--endpoint') ? {} : { url });
server.listen(Number(PORT), () => console.log(`Chat on ${page}, agent on ${url}`));

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    server.closeAllConnections();
    server.close();
    await agent.close();
  });
}
