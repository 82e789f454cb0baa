// `count 9` writes an artifact for each number, and goes on behind the last one after a takeover. `process` tells the
// process that ran it.
import { setTimeout as pause } from 'node:timers/promises';

const agent = {
  resumable: true,
  async execute(context, events) {
    const [word, last = '1'] = context.text.split(' ');
    await events.working();
    for (let number = (context.task?.artifacts?.length ?? 0) + 1; number <= Number(last); number++) {
      if (context.signal.aborted) return;
      await events.artifact(word === 'process' ? String(process.pid) : String(number), { name: String(number) });
      if (word === 'count') await pause(30);
    }
    await events.complete();
  },
};

export default { agent, idempotency: { anonymous: true } };
