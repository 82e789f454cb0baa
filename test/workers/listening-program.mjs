// Serves the agent that counts in workers, until a signal closes the server. Each process prints a line when it
// listens, or why it cannot: `node listening-program.mjs <database> <workers> [module] [ports]`. Each process loads the
// module first. The first process tries the ports in turn, and its workers take that of the attempt.
import cluster from 'node:cluster';
import { createA2AServer, openStorage } from 'parley-a2a';
import counting from './counting-agent.mjs';

const [, , database, workers, first, ports = '0'] = process.argv;
if (first) await import(first);
// A server before the one with workers keeps a memory of its own.
createA2AServer({ agent: (prompt) => prompt });
const backends = [];
if (database.startsWith('postgres:')) backends.push((await import('parley-a2a-postgres')).postgresBackend);
if (database.startsWith('redis:')) backends.push((await import('parley-a2a-redis')).redisBackend);
const storage = database === 'none' ? undefined : await openStorage(database, { backends });
const server = createA2AServer({ ...counting, ...(storage && { storage }), logRequests: false });
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    await server.close();
    await storage?.close();
    if (cluster.isPrimary) process.stdout.write('closed\n');
  });
}
const listen = (port) => server.listen(port, { workers: workers === 'max' ? workers : Number(workers) });
let url;
for (const port of (process.env.TRIED_PORT ?? ports).split(',').map(Number)) {
  if (cluster.isPrimary) process.env.TRIED_PORT = String(port);
  try {
    ({ url } = await listen(port));
    break;
  } catch (error) {
    if (cluster.isWorker) throw error;
    process.stderr.write(`${error.code}: ${error.message}\n`);
    process.exitCode = 1;
  }
}
if (cluster.isPrimary && url)
  process.stdout.write(`URL: ${url}\nCard: ${server.agentCard.supportedInterfaces[0].url}\n`);
