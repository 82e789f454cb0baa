// An agent that asks its caller for input and for an authorization. Usage: asking-server.mjs DATABASE_URL PORT [LIMITS]
import { createA2AServer } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';

const executor = {
  async execute(context, events) {
    await events.working();
    if (context.text === 'ask') return events.inputRequired('and then?');
    if (context.text === 'sign in elsewhere') return events.authRequired('Please sign in');
    const [, ms] = /^log in(?: within (\d+) ms)?$/.exec(context.text) ?? [];
    if (!context.text.startsWith('log in')) return events.complete(`${context.history.length} messages before`);
    const { parameters } = await context.requestAuthorization({
      message: 'Please log in',
      ...(ms !== undefined && { expiresInMs: Number(ms) }),
      url: ({ url, state }) => `${url}?state=${state}`,
    });
    await events.complete(`got a credential of ${parameters.code.length} characters`);
  },
};

const storage = await openStorage(process.argv[2]);
const limits = JSON.parse(process.argv[4] ?? '{}');
const server = createA2AServer({ agent: executor, name: 'Asking', storage, limits });
const { url } = await server.listen(Number(process.argv[3] ?? 0));
process.stdout.write(`${url}\n`);
