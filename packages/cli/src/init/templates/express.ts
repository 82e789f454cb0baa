import type { ProjectTemplate } from '../project-template.js';
import { SHOUTER, SHOUTER_TEST } from './minimal.js';

const SERVER = `import type { AddressInfo } from 'node:net';
import express from 'express';
import { toExpress } from 'parley-a2a/express';
import { createAgentHandler } from 'parley-a2a/server';
import { openStorage } from 'parley-a2a/storage';
import { agent } from './agent.ts';

const storage = await openStorage('sqlite:./data/tasks.db');
const handler = createAgentHandler({ ...agent, storage });

const app = express();
app.get('/', (_request, response) => void response.type('text').send('The agent is at /agents/shouter'));
app.use('/agents/shouter', toExpress(handler));

const server = app.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(\`Shouter listens on http://127.0.0.1:\${port}/agents/shouter\`);
});

async function stop(): Promise<void> {
  await handler.close();
  server.close();
  server.closeAllConnections();
  await storage.close();
}
process.once('SIGINT', stop);
process.once('SIGTERM', stop);
`;

/** An agent within an application of Express. */
export const express: ProjectTemplate = {
  summary: 'An agent within an application of Express.',
  message: 'hello',
  files: { 'agent.ts': SHOUTER, 'agent.test.ts': SHOUTER_TEST, 'server.ts': SERVER },
  scripts: {
    start: 'node server.ts',
    dev: 'node --watch server.ts',
    send: 'parley send --agent-card http://localhost:8080/agents/shouter',
  },
  dependencies: { express: '^5.0.0' },
  devDependencies: { '@types/express': '^5.0.0' },
};
