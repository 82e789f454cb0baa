import { expect, it } from 'vitest';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import { MemoryStorage, systemClock } from '../../packages/parley/src/exports/server.js';

it('prints', async () => {
  Error.stackTraceLimit = Number.POSITIVE_INFINITY;
  const stacks: string[] = [];
  const memory = new MemoryStorage({ clock: systemClock });
  const storage = new Proxy(memory, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name === 'accept') {
        return (...args: unknown[]) => {
          stacks.push(String(new Error('accept').stack));
          return Reflect.apply(value, target, args);
        };
      }
      return value.bind(target);
    },
  });
  const authenticator = {
    challenges: ['Bearer'],
    authenticate: async () => {
      stacks.push(String(new Error('auth').stack));
      return { id: 'u' };
    },
  };
  const server = createA2AServer({ agent: (p: string) => p, storage, authenticator } as never);
  const { url } = await server.listen(0);
  const r = await fetch(`${url}/a2a/jsonrpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message: { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'x' }] } },
    }),
  });
  console.log(await r.text());
  console.log(stacks.join('\n\n'));
  await server.close();
  expect(1).toBe(1);
});
