import { createA2AServer } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';
import { assistant } from './assistant.js';

// The AI SDK finds a model named by a string at its gateway, and the key for it in AI_GATEWAY_API_KEY.
const { MODEL: model, PORT = '8080' } = process.env;
if (model === undefined) throw new Error('MODEL must name a model, such as anthropic/claude-sonnet-4.5');

const storage = await openStorage('sqlite:./data/ai-sdk.db');
const server = createA2AServer({
  name: 'Assistant',
  description: `Answers questions, by ${model}`,
  agent: assistant(model),
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
