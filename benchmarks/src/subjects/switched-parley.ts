// Our server with everything around its calls switched on, or off: the argument says which.
import { createA2AHost } from 'parley-a2a/node';
import { pinoLogger } from 'parley-a2a-pino';
import { ready } from './subject-host.js';

const parrot = {
  replies: 'either' as const,
  execute: async (context: { readonly text: string }, events: { message(text: string): unknown }) => {
    await events.message(context.text);
  },
};

const isOn = process.argv[2] === 'on';
const switches = isOn
  ? { cors: '*' as const, nosniff: true, openapi: true, baseServer: { agent: '/' } }
  : { compression: false, health: false, metrics: false, logRequests: false };
const host = createA2AHost({
  agents: { '/': { agent: parrot, ...(!isOn && { versions: ['1.0' as const] }) } },
  logger: pinoLogger({ level: 'warn' }),
  ...switches,
});
const { url } = await host.listen(0);
ready(Number(new URL(url).port));
