// An agent whose first attempt never ends. Usage: resumable-server.mjs DATABASE_URL PORT
import { createA2AServer } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';

const agent = {
  resumable: true,
  async execute(context, events) {
    await events.working(`attempt ${context.attempt}`);
    if (context.attempt === 1) await new Promise(() => {});
    await events.artifact(`ended by attempt ${context.attempt}`);
    await events.complete();
  },
};

const storage = await openStorage(process.argv[2]);
const skills = [{ id: 'talk', name: 'Talk', description: 'Talks', tags: [] }];
const server = createA2AServer({ agent, name: 'Resumable', storage, skills });
const { url } = await server.listen(Number(process.argv[3]));
process.stdout.write(`${url}\n`);
