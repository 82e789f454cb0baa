// An agent that asks its caller for input and for an authorization. Usage: asking-server.mjs DATABASE_URL PORT [LIMITS]
import { createA2AServer } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';

const executor = {
  async execute(context, events) {
    await events.working();
    if (context.text === 'ask') return events.inputRequired('and then?');
    if (context.text === 'sign in elsewhere') return events.authRequired('Please sign in');
    const [, ms] = /^log in(?: within (\d+) ms)?$/.exec(context.text) ?? [];
    if (context.text.startsWith('log in, then stall')) return loginAndStall(context, events);
    if (!context.text.startsWith('log in')) return events.complete(`${context.history.length} messages before`);
    const { parameters } = await context.requestAuthorization({
      message: 'Please log in',
      ...(ms !== undefined && { expiresInMs: Number(ms) }),
      url: ({ url, state }) => `${url}?state=${state}`,
    });
    await events.complete(`got a credential of ${parameters.code.length} characters`);
  },
};

/** Stalls with the credential in as many attempts as the message says. */
async function loginAndStall(context, events) {
  const { attempt, checkpoint = 'no checkpoint', text } = context;
  if (attempt === 1) await context.saveCheckpoint('a checkpoint');
  const ask = async (message) => {
    const { parameters } = await context.requestAuthorization({
      message,
      url: ({ url, state }) => `${url}?state=${state}`,
    });
    return parameters.code.length;
  };
  const lengths = [await ask('First')];
  if (text.includes('second')) lengths.push(await ask('Second'));
  if (attempt < Number(text.match(/\d+/)[0])) {
    await events.artifact(`stalls in attempt ${attempt}`);
    await new Promise(() => {});
  }
  await events.complete(`attempt ${attempt} with ${checkpoint}, codes of ${lengths}`);
}

const storage = await openStorage(process.argv[2]);
const { secretKeys, ...limits } = JSON.parse(process.argv[4] ?? '{}');
const agent = { ...executor, resumable: secretKeys !== undefined };
const server = createA2AServer({ agent, name: 'Asking', storage, limits, ...(secretKeys && { secretKeys }) });
const { url } = await server.listen(Number(process.argv[3]));
process.stdout.write(`${url}\n`);
