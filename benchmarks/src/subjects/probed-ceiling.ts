// The ceiling of the fan-out: node:http that writes ready strings to all listeners.
import { createServer, type ServerResponse } from 'node:http';
import { storedTaskId } from '../stored-tasks.js';
import { betweenEvents, chunkText } from '../workloads.js';
import { portOf, ready, told } from './subject-host.js';

const HEAD = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' };
const ids = { taskId: storedTaskId(0), contextId: `c${storedTaskId(0)}` };
const frame = (seq: number, result: object) =>
  `id: ${seq}\ndata: {"jsonrpc":"2.0","id":1,"result":${JSON.stringify(result)}}\n\n`;
const status = (state: string) => ({ statusUpdate: { ...ids, status: { state, timestamp: '2026-01-01T00:00:00Z' } } });
const chunk = (index: number) => ({
  artifactUpdate: {
    ...ids,
    artifact: { artifactId: 'response', parts: [{ text: chunkText(index) }] },
    ...(index > 0 && { append: true }),
  },
});

let listening: ServerResponse[] = [];

const server = createServer((request, response) => {
  const body: Buffer[] = [];
  request.on('data', (data: Buffer) => body.push(data));
  request.on('end', () => {
    const { method, params } = JSON.parse(Buffer.concat(body).toString()) as {
      method: string;
      params: { message?: { parts: readonly { text: string }[] } };
    };
    if (method === 'SubscribeToTask') {
      response.writeHead(200, HEAD);
      response.write(frame(1, { task: { id: ids.taskId, status: { state: 'TASK_STATE_WORKING' } } }));
      listening.push(response);
      return;
    }
    const count = Number(params.message?.parts[0]?.text.split(' ')[1]);
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { task: { id: ids.taskId } } }));
    void fanOut(count);
  });
});
server.listen(0, '127.0.0.1', () => ready(portOf(server.address())));

async function fanOut(count: number): Promise<void> {
  const frames = Array.from({ length: count }, (_, index) => frame(index + 2, chunk(index)));
  await told();
  for (const ready of frames) {
    await betweenEvents();
    for (const response of listening) response.write(ready);
  }
  for (const response of listening) response.end(frame(count + 2, status('TASK_STATE_COMPLETED')));
  listening = [];
}
