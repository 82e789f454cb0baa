// The agent of several processes. `process` tells the process that ran it. `slow` gives chunks until its process stops,
// and three more in the next one.
import { setTimeout as pause } from 'node:timers/promises';

export const agent = {
  resumable: true,
  async execute(context, events) {
    if (context.text === 'process') {
      await events.artifact(String(process.pid), { name: 'process' });
      return events.complete();
    }
    await events.working();
    for (let chunk = 0; context.attempt === 1 || chunk < 3; chunk++) {
      if (context.signal.aborted) return;
      await events.artifact(`chunk ${chunk}`, { name: `chunk-${context.attempt}-${chunk}` });
      await pause(100);
    }
    await events.complete('Done');
  },
};
