import { describe, expect, it } from 'vitest';
import { attackRequestLines } from '../../packages/parley/test/attack-request-lines.js';
import { RawConnection } from '../../packages/parley/test/raw-connection.js';
import { RunningParley, ServedAgent } from './parley.js';
import { RecordingAgent } from './recording-agent.js';

/** Attacks a listener of the tool. It must answer after that, and shut down cleanly on a signal. */
async function attackListener(running: RunningParley, url: string): Promise<void> {
  await attackRequestLines(Number(new URL(url).port));
  expect((await fetch(url)).status).toBeGreaterThan(0);
  const { code, stderr } = await running.stop();
  expect(stderr).not.toMatch(/TypeError|ERR_|\n {4}at /);
  expect(code).toBe(0);
}

describe('no request line stops a listener:', () => {
  it.each([
    ['serve', ['serve', '--echo', '--quiet']],
    ['serve --exec', ['serve', '--exec', 'cat', '--quiet']],
    ['demo-server', ['demo-server', '--quiet']],
  ])('%s', async (_, args) => {
    await using agent = await ServedAgent.start(args);
    await attackListener(agent.running, agent.url);
  });

  it('serve --proxy', async () => {
    await using agent = await RecordingAgent.start();
    await using proxy = await ServedAgent.start(['serve', '--proxy', agent.url, '--traffic-log', '/dev/null']);
    await attackListener(proxy.running, proxy.url);
  });

  it('push receive', async () => {
    await using running = new RunningParley(['push', 'receive', '--port', '0']);
    const url = await running.waitForStderr(/^Webhook: (\S+)$/m);
    await attackListener(running, url);
  });
});

it.each(['http://evil.example', 'HTTP://evil.example:80', '//evil.example', '@evil.example', ':80@evil.example'])(
  'serve --proxy calls only its agent, even for the request target %s',
  async (name) => {
    await using agent = await RecordingAgent.start({ answer: () => ({ body: { from: 'the agent' } }) });
    await using proxy = await ServedAgent.start(['serve', '--proxy', agent.url]);
    using connection = await RawConnection.open(
      Number(new URL(proxy.url).port),
      `GET ${name}/card HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`,
    );
    expect(await connection.untilEnd()).toMatch(/^HTTP\/1\.1 (?:200 OK[\s\S]*from":"the agent|400 )/);
    expect(agent.requests.map(({ path }) => path)).toEqual(
      /^http/i.test(name) ? ['/card'] : name.startsWith('/') ? ['//evil.example/card'] : [],
    );
  },
);
