// The counter of a document, in a process that dies at the worst moment: an event is committed, and what follows is
// not. Usage: counter-server.mjs DATABASE_URL MODULE EVENTS. With EVENTS 0 it lives.
import { createA2AServer } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';

const [database, module, events] = process.argv.slice(2);
const { counter } = await import(module);

/** Ends the process after `most` events. */
function dying(queue, most) {
  let committed = 0;
  return new Proxy(queue, {
    get(target, name) {
      const member = target[name];
      if (name !== 'artifact' && name !== 'append') return typeof member === 'function' ? member.bind(target) : member;
      return async (...args) => {
        const result = await member.apply(target, args);
        await target.flush();
        committed += 1;
        if (committed === most) process.kill(process.pid, 'SIGKILL');
        return result;
      };
    },
  });
}

const agent = { ...counter, execute: (context, queue) => counter.execute(context, dying(queue, Number(events))) };
const storage = await openStorage(database);
const limits = { leaseMs: 3_000, leaseRenewalMs: 500, fenceMarginMs: 200 };
const server = createA2AServer({ agent, name: 'Counter', storage, limits });
const { url } = await server.listen(0);
process.stdout.write(`${url}\n`);
