import { describe, expect, it } from 'vitest';
import { BearerTokens } from '../../packages/parley/src/exports/auth.js';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import { CapturingLogger } from '../../packages/parley/test/engine.js';
import { leakIn, plantSecret } from '../../packages/parley/test/planted-secrets.js';
import { LocalServer } from '../push-receiver/receiver-world.js';

/** An empty database for one test. */
export interface SearchedDatabase {
  open(): Promise<TaskStorage>;
  /** Returns everything in the database, while it is open or after that. */
  contents(): Promise<string>;
}

const KEY = 'a'.repeat(64);
const CALLER = plantSecret('caller');

/** A search of a whole database for the secrets of callers and webhooks, after deliveries that failed and succeeded. */
export function secretSearchContract(name: string, create: () => Promise<SearchedDatabase>): void {
  describe(`the contents of ${name}`, () => {
    it.each([
      ['hold no secret with a key', [KEY], 0],
      ['hold secrets without a key, so that the search is known to find them', undefined, 1],
    ])('%s', async (_, secretKeys, least) => {
      const database = await create();
      const texts = await playTasks(database, secretKeys);
      texts.push(await database.contents());
      // The names of the webhooks show that the search reads the right place.
      for (const text of texts) expect(text).toContain('hook-of-a-caller');
      const leaks = texts.map(leakIn).filter((leak) => leak !== undefined);
      if (least === 0) expect(leaks).toEqual([]);
      else expect(leaks.length).toBeGreaterThanOrEqual(least);
    });
  });
}

/** Runs a server until webhooks have answered. Resolves to the contents before its end. */
async function playTasks(database: SearchedDatabase, secretKeys: readonly string[] | undefined): Promise<string[]> {
  const answered: string[] = [];
  await using hook = await LocalServer.open((request, response) => {
    answered.push(request.url ?? '');
    response.writeHead(request.url?.includes('gone') === true ? 410 : 204, { 'x-echo': plantSecret('echo') }).end();
  });
  const storage = await database.open();
  const server = createA2AServer({
    agent: { execute: (_, events) => events.complete('Done') },
    storage,
    logger: new CapturingLogger(),
    authenticator: new BearerTokens([{ token: CALLER, subject: 'ada' }]),
    push: { allow: ['127.0.0.1'], headers: { 'x-gateway-key': plantSecret('gateway') } },
    ...(secretKeys && { secretKeys }),
  });
  try {
    const { url } = await server.listen(0);
    const call = async (method: string, params: object) => {
      const response = await fetch(`${url}/a2a/jsonrpc?key=${plantSecret('query')}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0', authorization: `Bearer ${CALLER}` },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
      return (await response.json()) as { result: { task: { id: string } } };
    };
    const webhook = (id: string, path: string) => ({
      id: `hook-of-a-caller-${id}`,
      url: `${hook.url}/${path}/${plantSecret('path')}?key=${plantSecret('url')}`,
      token: plantSecret('token'),
      authentication: { scheme: 'Bearer', credentials: plantSecret('credentials') },
    });
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] };
    const configuration = { taskPushNotificationConfig: webhook('a', 'taken') };
    await call('SendMessage', { message, configuration });
    const other = { message: { ...message, messageId: 'n' } };
    const { result } = await call('SendMessage', {
      ...other,
      configuration: { taskPushNotificationConfig: webhook('b', 'gone') },
    });
    await call('CreateTaskPushNotificationConfig', { ...webhook('c', 'late'), taskId: result.task.id });
    const refused = {
      ...webhook('d', 'never'),
      url: `https://ann:${plantSecret('user')}@host.example/`,
      taskId: 'none',
    };
    await call('CreateTaskPushNotificationConfig', refused);
    const countParked = async () => (await server.deliveries.list({ standing: 'parked' })).queues.length;
    await expect.poll(countParked).toBe(1);
    await expect.poll(() => answered.filter((path) => path.includes('/taken/')).length).toBeGreaterThan(1);
    return [await database.contents()];
  } finally {
    await server.close({ graceMs: 0 });
    await storage.close();
  }
}
