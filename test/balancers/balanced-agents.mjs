// An agent behind a balancer. `process` answers with the id of its process. `silent N` is silent for N ms. `long` sends
// chunks for 9 s; if its process ends before, it ends in the next one.
import { setTimeout as pause } from 'node:timers/promises';

const agent = {
  name: 'Balanced',
  limits: { leaseMs: 4_000, leaseRenewalMs: 1_000 },
  // A client repeats a message whose answer was lost. A caller with a credential may do so by default.
  idempotency: { anonymous: true },
  agent: {
    resumable: true,
    async execute(context, events) {
      const [word, ms] = context.text.split(' ');
      await events.working();
      if (word === 'process') await events.artifact(String(process.pid), { name: 'process' });
      if (word === 'silent') await pause(Number(ms), undefined, { signal: context.signal });
      for (let chunk = 0; word === 'long' && context.attempt === 1 && chunk < 90 && !context.signal.aborted; chunk++) {
        await events.artifact(`chunk ${chunk}`, { name: `chunk-${chunk}`, lastChunk: true });
        await pause(100);
      }
      if (!context.signal.aborted) await events.complete();
    },
  },
};

export default { agents: { '/': agent }, trustProxy: ['127.0.0.1'], streamHeartbeatMs: 400 };
