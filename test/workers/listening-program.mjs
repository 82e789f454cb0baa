// Serves the agent that counts in workers, until a signal closes the server. Each process prints a line when it
// listens, or why it cannot: `node listening-program.mjs <database> <workers> [module that each process loads first]`.
import cluster from 'node:cluster';
import { createA2AServer, openStorage } from 'parley-a2a';
import counting from './counting-agent.mjs';

const [, , database, workers, first] = process.argv;
if (first !== undefined) await import(first);
// A server before the one with workers keeps a memory of its own.
createA2AServer({ agent: (prompt) => prompt });
const backends = database.startsWith('postgres:') ? [(await import('parley-a2a-postgres')).postgresBackend] : [];
const storage = database === 'none' ? undefined : await openStorage(database, { backends });
const server = createA2AServer({ ...counting, ...(storage && { storage }), logRequests: false });
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    await server.close();
    await storage?.close();
    if (cluster.isPrimary) process.stdout.write('closed\n');
  });
}
const { url } = await server.listen(0, { workers: workers === 'max' ? workers : Number(workers) });
if (cluster.isPrimary) process.stdout.write(`URL: ${url}\nCard: ${server.agentCard.supportedInterfaces[0].url}\n`);
