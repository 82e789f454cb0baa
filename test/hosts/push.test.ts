import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { connect } from '../../packages/parley/src/exports/client.js';
import { WatchedListener } from '../address-guard/watched-listener.js';
import { HostProcess } from './host-process.js';

const server = fileURLToPath(new URL('servers/workerd.mjs', import.meta.url));

it('a worker, which cannot check addresses, posts to the hosts in `push.allow` and to no other name', async () => {
  await using allowed = await WatchedListener.open();
  await using other = await WatchedListener.open();
  await using worker = await HostProcess.start({
    command: [process.execPath, server, 'push-worker.mjs'],
    env: { WEBHOOKS: `127.0.0.1:${allowed.port}` },
  });
  // Miniflare may answer the first request to a cold object with an error of its own.
  await vi.waitFor(async () => {
    const refusal = await (await fetch(`${worker.url}/refused`)).text();
    expect(refusal).toContain('push: this host cannot check the addresses of webhooks. Name them in push.allow');
  }, 30_000);

  const client = await connect(worker.url);
  onTestFinished(() => client.close());
  const message = { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'hello' }] };
  const send = (url: string) => client.sendMessage({ message, configuration: { taskPushNotificationConfig: { url } } });
  for (const url of [
    `http://127.0.0.1:${other.port}/`,
    `http://localhost:${allowed.port}/`,
    `http://127.1:${other.port}/`,
    `http://[::ffff:127.0.0.1]:${other.port}/`,
    'http://169.254.169.254/latest',
    'https://hooks.example.com/in',
    'https://10.0.0.1.nip.io/',
  ]) {
    expect([
      url,
      await send(url).then(
        () => 'taken',
        ({ code }) => code,
      ),
    ]).toEqual([url, 'INVALID_PARAMS']);
  }
  await send(`http://127.0.0.1:${allowed.port}/in`);
  await vi.waitFor(() => expect(allowed.requests.length).toBeGreaterThan(0), { timeout: 30_000 });
  expect(allowed.requests[0]).toMatchObject({ method: 'POST', path: '/in' });
  expect(other.connections).toEqual([]);
});
