import { describe, expect, it } from 'vitest';
import { RawConnection } from '../../packages/parley/test/raw-connection.js';
import { ServedAgent } from './parley.js';
import { RecordingAgent } from './recording-agent.js';

/** Returns the answer to a request for a card as a page of another origin would send it. */
async function answerFor(url: string, host: string): Promise<string> {
  const { port } = new URL(url);
  const lines = [
    'GET /.well-known/agent-card.json HTTP/1.1',
    `host: ${host.replace('PORT', port)}`,
    'origin: https://evil.example',
    'connection: close',
  ];
  using connection = await RawConnection.open(Number(port), `${lines.join('\r\n')}\r\n\r\n`);
  return await connection.untilEnd();
}

describe('a page of another origin cannot read a server on loopback:', () => {
  async function check(url: string): Promise<void> {
    for (const host of ['evil.example', 'evil.example:PORT', '127.0.0.1.evil.example', 'localhost.evil.example:PORT'])
      expect(await answerFor(url, host)).toMatch(/^HTTP\/1\.1 421 /);
    for (const host of ['127.0.0.1:PORT', 'localhost:PORT', '[::1]:PORT']) {
      const answer = await answerFor(url, host);
      expect(answer).toMatch(/^HTTP\/1\.1 200 /);
      expect(answer.toLowerCase()).not.toContain('access-control-allow-origin');
    }
  }

  it.each([
    ['serve --echo', ['serve', '--echo', '--quiet']],
    ['serve --exec', ['serve', '--exec', 'cat', '--quiet']],
    ['demo-server', ['demo-server', '--quiet']],
  ])('%s', async (_, args) => {
    await using agent = await ServedAgent.start(args);
    await check(agent.url);
  });

  it('serve --proxy', async () => {
    await using agent = await RecordingAgent.start();
    await using proxy = await ServedAgent.start(['serve', '--proxy', agent.url, '--traffic-log', '/dev/null']);
    await check(proxy.url);
  });
});
