// An agent's server for the crash test: every way a turn can be caught by a kill. Usage: crash-server.mjs DATABASE_URL
import { createA2AServer } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const executor = {
  resumable: true,
  async execute(context, events) {
    const [kind = ''] = context.text.split(' ');
    await events.working(`attempt ${context.attempt}`);
    if (kind === 'ask' && !context.text.includes('answer')) return events.inputRequired('and then?');
    if (kind === 'quick') return events.complete('done');
    const id = await events.artifact('chunk 0', { artifactId: 'log' });
    for (let chunk = 1; chunk < 20; chunk += 1) {
      if (context.signal.aborted) return;
      if (chunk % 3 === 0) await pause(chunk % 7);
      await events.append(id, `chunk ${chunk} ${'x'.repeat((chunk * 37) % 400)}`);
    }
    await events.complete('all chunks');
  },
};

const storage = await openStorage(process.argv[2]);
const server = createA2AServer({ agent: executor, name: 'Crash', storage });
const { url } = await server.listen(0);
process.stdout.write(`${server.agentCard.supportedInterfaces[0]?.url ?? url}\n`);
