import { createA2AServer } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';
import { openAIAgent } from 'parley-a2a-openai-agents';
import { refundAgent } from './refund-agent.js';

// The SDK takes the key of the model from OPENAI_API_KEY.
const { MODEL: model, PORT = '8080', RUN_STATE_KEY: key } = process.env;
if (model === undefined) throw new Error('MODEL must name a model of OpenAI, such as gpt-5.2');

const storage = await openStorage('sqlite:./data/openai-agents.db');
const server = createA2AServer({
  name: 'Refunds',
  description: 'Refunds an order, such as "Refund 50 euros"',
  agent: openAIAgent({ agent: refundAgent(model), ...(key !== undefined && { secretKeys: [key] }) }),
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
