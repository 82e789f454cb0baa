import { connect } from 'parley-a2a';
import { describe, expect, it } from 'vitest';
import { Receiver } from '../push/receiver.js';
import { parley, ServedAgent } from './parley.js';

describe('parley serve --operator', () => {
  const statusOf = async (url: string, token?: string) => {
    const headers = token === undefined ? {} : { 'operator-token': token };
    return (await fetch(new URL('/operator/v1/status', url), { headers })).status;
  };

  it('serves the operator API, and prints its token', async () => {
    await using agent = await ServedAgent.start(['serve', '--echo', '--operator']);
    const token = await agent.running.waitForStdout(/^Operator token: (\S{43})$/m);
    const statuses = [
      await statusOf(agent.url),
      await statusOf(agent.url, `${token}x`),
      await statusOf(agent.url, token),
    ];
    expect(statuses).toEqual([401, 401, 200]);
  });

  it('can be enabled by A2A_OPERATOR, and each launch has a new token', async () => {
    const options = { env: { A2A_OPERATOR: 'true' } };
    await using one = await ServedAgent.start(['serve', '--echo'], options);
    await using other = await ServedAgent.start(['serve', '--echo'], options);
    const token = await one.running.waitForStdout(/^Operator token: (\S+)$/m);
    expect([await statusOf(one.url, token), await statusOf(other.url, token)]).toEqual([200, 401]);
  });

  it('is off by default', async () => {
    await using agent = await ServedAgent.start(['serve', '--echo']);
    expect(await statusOf(agent.url)).toBe(404);
  });

  it('on an address beyond loopback needs users, because it has no token', async () => {
    const args = ['serve', '--echo', '--operator', '--host', '0.0.0.0', '--allow-anonymous', '--port', '0'];
    const { code, stderr } = await parley(args);
    expect(code).not.toBe(0);
    expect(stderr).toContain('it is never open');
  });
});

describe('parley serve --push-allow', () => {
  const register = async (url: string, webhook: string) => {
    const client = await connect(url);
    const message = { parts: [{ text: 'hi' }] };
    try {
      return await client.sendMessage({ message, configuration: { taskPushNotificationConfig: { url: webhook } } });
    } finally {
      await client.close();
    }
  };

  it.each([
    ['the flag', ['--push-allow', '127.0.0.1'], {}],
    ['A2A_PUSH_ALLOW', [], { A2A_PUSH_ALLOW: 'hooks.internal,127.0.0.0/8' }],
  ])('allows a private webhook: %s', async (_, args, env) => {
    await using receiver = await Receiver.open();
    await using agent = await ServedAgent.start(['serve', '--echo', ...args], { env });
    await register(agent.url, receiver.url);
    await receiver.has((all) => all.some(({ text }) => text.includes('COMPLETED')));
  });

  it('is required: without it a private webhook is refused', async () => {
    await using receiver = await Receiver.open();
    await using agent = await ServedAgent.start(['serve', '--echo']);
    await expect(register(agent.url, receiver.url)).rejects.toThrow();
    expect(receiver.received).toEqual([]);
  });
});
