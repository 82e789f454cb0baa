import { ignoreRejection } from 'parley-a2a/kit';
import type { AgentExecutor } from 'parley-a2a/server';

const never = <T>(): Promise<T> => new Promise<T>(() => {});

/**
 * Wraps an agent whose process may die. Each of its events is committed before the next one begins, so that the process
 * can die exactly between two events. After that, no call of its context or its events resolves.
 */
export function mortalAgent(agent: AgentExecutor, isDead: () => boolean): AgentExecutor {
  const { replies, resumable } = agent;
  const inTurn = (call: 'execute' | 'cancel'): NonNullable<AgentExecutor['cancel']> => {
    return async (context, events) => {
      let last: Promise<unknown> = Promise.resolve();
      let pending = 0;
      const inOrder = (publish: () => unknown): Promise<unknown> => {
        const step = async (): Promise<unknown> => {
          if (isDead()) return never();
          const result = await publish();
          await events.flush();
          return result;
        };
        // The first of concurrent calls reaches the engine at once, because agents need not await their events.
        last = pending === 0 ? step() : last.then(step, step);
        pending += 1;
        const settled = (): void => {
          pending -= 1;
        };
        last.then(settled, settled);
        return last;
      };
      const own = { context: answering(context, isDead, (ask) => ask()), events: answering(events, isDead, inOrder) };
      await agent[call]?.(own.context, own.events);
      await last.catch(() => {});
      if (isDead()) await never();
    };
  };
  return {
    execute: inTurn('execute'),
    ...(agent.cancel !== undefined && { cancel: inTurn('cancel') }),
    ...(replies !== undefined && { replies }),
    ...(resumable !== undefined && { resumable }),
  };
}

/** A proxy of the object, whose methods resolve only while the process lives. */
function answering<T extends object>(object: T, isDead: () => boolean, around: (call: () => unknown) => unknown): T {
  return new Proxy(object, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        if (isDead()) return never();
        const answer = around(() => Reflect.apply(member, target, args));
        if (!(answer instanceof Promise)) return answer;
        return ignoreRejection(answer.then((value) => (isDead() ? never() : value)));
      };
    },
  });
}
