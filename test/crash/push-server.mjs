// A server with push notifications on a SQLite file, to be killed. Prints its address. Arguments: database url, and
// `until-done` for a server that ends by itself when no task runs and no notification is pending.
import { createA2AServer } from 'parley-a2a';
import { openStorage } from 'parley-a2a/storage';

const [, , url, until] = process.argv;
const storage = await openStorage(url);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const server = createA2AServer({
  agent: {
    async execute({ text }, events) {
      await events.working('Begun');
      for (let part = 0; part < 6; part += 1) {
        await events.artifact(`${text} ${part}`, { artifactId: `part-${part}` });
        await pause(20);
      }
      await events.complete('Done');
    },
  },
  storage,
  push: { allow: ['127.0.0.0/8'], attempts: 1_000, timeoutMs: 250, firstDelayMs: 10, maxDelayMs: 100 },
});
const { url: address } = await server.listen(0);
console.log(address);

while (until === 'until-done') {
  const running = await server.tasks.count({ states: ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'] });
  const { queues } = await server.deliveries.list({ standing: 'pending', limit: 1 });
  if (running === 0 && queues.length === 0) process.exit(0);
  await pause(50);
}
