import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { afterTest } from './grpc-world.js';
import { ANSWER, RawConnection } from './raw-connection.js';
import { frame, http2Frame } from './raw-http2.js';

const MB = 1_000_000;

it('a message that arrives byte by byte takes little more memory than its bytes', { timeout: 60_000 }, async () => {
  const path = fileURLToPath(new URL('memory-server.mjs', import.meta.url));
  const child = fork(path, ['{}'], { execArgv: ['--expose-gc'], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  afterTest(() => child.kill('SIGKILL'));
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const readUsedMemory = async () => {
    child.send('memory');
    return ((await once(child, 'message')) as [{ used: number }])[0].used;
  };
  const before = await readUsedMemory();
  const connections = Array.from({ length: 3 }, () => new RawConnection(port, { keeps: false }));
  for (const connection of connections) {
    connection.begin(1, { headers: { ':path': '/lf.a2a.v1.A2AService/SendMessage' } });
    connection.write(ANSWER.data, 1, frame(Buffer.alloc(0), { length: 5 * MB }));
  }
  // One window of a stream, and of its connection (RFC 9113 §6.9.2).
  const bytes = Buffer.concat(Array.from({ length: 60_000 }, () => http2Frame(ANSWER.data, 1, Buffer.alloc(1))));
  for (const { socket } of connections) socket.write(bytes);
  await expect
    .poll(() => connections.every(({ socket }) => socket.writableLength === 0), { timeout: 20_000 })
    .toBe(true);
  // The system may still hold a part of the 180 kB, so that the server is given time to read them.
  for (let look = 0; look < 10; look++) expect((await readUsedMemory()) - before).toBeLessThan(6 * MB);
});
