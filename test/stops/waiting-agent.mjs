// An agent that stays in the state that its caller names. It prints when it starts, and when its signal aborts.
import { setTimeout as pause } from 'node:timers/promises';
import { agentCalls } from 'parley-a2a/agent-calls';

const tell = (line) => process.stdout.write(`${line}\n`);
const aborted = (signal) => new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));

const waiting = {
  resumable: true,
  async execute(context, events) {
    const [state, url] = context.text.split(' ');
    const { signal } = context;
    signal.addEventListener('abort', () => tell(`aborted ${state}`), { once: true });
    await events.working();
    if (state === 'input') {
      await events.inputRequired('and then?');
      return tell('begun input');
    }
    tell(`begun ${state}`);
    if (state === 'signal') await aborted(signal);
    if (state === 'authorization') await context.requestAuthorization({ message: 'Please log in' });
    while (state === 'timer' && !signal.aborted) await pause(20);
    if (state === 'call') await context.callAgent(url, 'signal');
    throw signal.reason;
  },
};

export default { agents: { '/': { name: 'Waiting', agent: waiting } }, calls: agentCalls({ allow: ['127.0.0.1'] }) };
