import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { systemClock as clock } from '../../packages/parley/src/exports/runtime.js';
import { silentLogger as logger } from '../../packages/parley/src/telemetry/logger.js';
import { PostgresConnections } from '../../packages/postgres/src/connections.js';
import { postgresPlan } from '../../packages/postgres/src/postgres-options.js';

/** A message of the PostgreSQL protocol. */
function frame(type: string, body: string): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, Buffer.from(body, 'latin1')]);
}

it('a PostgreSQL that ends while a connection begins ends no process', async () => {
  const fatal = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0';
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.end(Buffer.concat([frame('R', '\0\0\0\0'), frame('Z', 'I'), frame('E', fatal)]));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const plan = postgresPlan({ url: `postgres://postgres@127.0.0.1:${port}/postgres` });
  const connections = new PostgresConnections({ plan, clock, logger });
  await expect(connections.query({ text: 'SELECT 1' })).rejects.toThrow('PostgreSQL');
  await connections.close();
  await new Promise((resolve) => server.close(resolve));
});
