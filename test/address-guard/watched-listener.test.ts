import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { WatchedListener } from './watched-listener.js';

it('a request whose sender was killed is none, and later ones are', async () => {
  await using listener = await WatchedListener.open();
  const socket = connect(listener.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('POST /cut HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{', () => socket.resetAndDestroy());
  await once(socket, 'close');
  await (await fetch(`http://127.0.0.1:${listener.port}/whole`, { method: 'POST', body: 'all' })).text();
  expect(listener.requests.map(({ path, body }) => [path, body])).toEqual([['/whole', 'all']]);
});
