import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { limitedFetch } from './limited-fetch.js';

it('an event stream of an MCP server loses unknown lines and comments', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(
      `${'x\n'.repeat(1000)}:\nretry: 50\nid: 1\nevent: message\ndata: {"a":\rx\r\ndata: 1}\n\n${':\n'.repeat(9)}`,
    );
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const answer = await limitedFetch(fetch, 10_000)(`http://127.0.0.1:${port}`);
  expect(await answer.text()).toBe('data: {"a":\ndata: 1}\nevent: message\nid: 1\nretry: 50\n\n');
});
