import { expect, it, vi } from 'vitest';
import { onSharedStorage } from '../../test/shared-view.js';
import { systemClock } from '../exports/runtime.js';
import { createAgentHandler } from '../exports/server.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';

it('a process whose clock is wrong sends notifications with the time of the storage', async () => {
  const offMs = 300_000;
  const times: number[] = [];
  const storage = onSharedStorage(
    new MemoryStorage({ clock: { ...systemClock, now: () => systemClock.now() + offMs } }),
  );
  const handler = createAgentHandler({
    agent: (prompt) => prompt,
    url: 'https://agents.example',
    storage,
    push: {
      fetch: async (_url, { headers }) => {
        times.push(Number(new Headers(headers).get('x-a2a-notification-timestamp')) * 1_000);
        return new Response(null, { status: 204 });
      },
    },
  });
  const body = JSON.stringify({
    message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] },
    configuration: { taskPushNotificationConfig: { url: 'https://hooks.example/hook' } },
  });
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
  const url = 'https://agents.example/a2a/rest/message:send';
  const answer = await handler.fetch(new Request(url, { method: 'POST', headers, body }));
  expect(answer.status, await answer.clone().text()).toBe(200);
  await vi.waitFor(() => expect(times.length).toBeGreaterThan(0), { timeout: 5_000 });
  for (const time of times) expect(Math.abs(time - systemClock.now() - offMs)).toBeLessThan(60_000);
  await handler.close();
});
