import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { type ProbedServer, prompted } from '../probes/probed-server.js';
import { jsonOf } from '../probes/subject-client.js';
import { inDataFolder } from '../run/data-folder.js';
import { repeat, type StorageName, withServer } from './grown-server.js';

/** Memory of a server per connection or stream, in bytes. */
export interface IdleRow {
  readonly what: 'connection' | 'stream';
  readonly count: number;
  readonly rss: number;
  readonly heap: number;
  /** Of the server before, in bytes. */
  readonly idleRss: number;
}

const WARM_UP = 200;

/** Measures connections without a request, and open streams of one task whose agent waits. */
export function idleRows(storage: StorageName, count: number): Promise<readonly IdleRow[]> {
  return inDataFolder(storage, async (folder) => [
    await withServer({ storage, folder }, (server) => idleRow(server, 'connection', count)),
    await withServer({ storage, folder }, (server) => idleRow(server, 'stream', count)),
  ]);
}

async function idleRow(server: ProbedServer, what: IdleRow['what'], count: number): Promise<IdleRow> {
  await repeat(WARM_UP, 16, () => server.finish('hello'));
  const open = what === 'connection' ? () => connect(server) : await streamsOf(server);
  const sockets: Socket[] = [];
  const keep = async () => {
    sockets.push(await open());
  };
  await repeat(WARM_UP, 16, keep);
  const before = await server.usage('settle');
  await repeat(count, 16, keep);
  const after = await server.usage('settle');
  for (const socket of sockets) socket.destroy();
  return {
    ...{ what, count, idleRss: before.rss },
    rss: (after.rss - before.rss) / count,
    heap: (after.heap - before.heap) / count,
  };
}

/** A connection that has had one answer, as clients keep them. */
async function connect(
  server: ProbedServer,
  request = 'GET /.well-known/agent-card.json HTTP/1.1\r\nhost: localhost\r\n\r\n',
) {
  const socket = createConnection({ host: '127.0.0.1', port: server.port, noDelay: true });
  socket.write(request);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  if (!answer.toString('latin1').startsWith('HTTP/1.1 200')) throw new Error(answer.toString());
  return socket;
}

/** Opens streams of a task that waits for the end of this run. */
async function streamsOf(server: ProbedServer): Promise<() => Promise<Socket>> {
  const configuration = { returnImmediately: true };
  const { task } = (await jsonOf(server.call('SendMessage', { ...prompted('fan-out 0'), configuration }))) as {
    readonly task: { readonly id: string };
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id: task.id } });
  const head = [
    ...['POST / HTTP/1.1', 'host: localhost', 'content-type: application/json', 'accept: text/event-stream'],
    ...['a2a-version: 1.0', `content-length: ${Buffer.byteLength(body)}`],
  ];
  return () => connect(server, `${head.join('\r\n')}\r\n\r\n${body}`);
}
