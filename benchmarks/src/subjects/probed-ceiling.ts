// The ceiling of the fan-out: node:http that writes ready strings to all listeners. That of push notifications: a bare
// sender of ready strings, with as many requests under way as ours has.
import { Agent, createServer, request as post, type ServerResponse } from 'node:http';
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

/** As many requests at once as ours sends to one host. */
const SENDING = new Agent({ keepAlive: true, maxSockets: 16 });

let listening: ServerResponse[] = [];

const server = createServer((request, response) => {
  const body: Buffer[] = [];
  request.on('data', (data: Buffer) => body.push(data));
  request.on('end', () => {
    const { method, params } = JSON.parse(Buffer.concat(body).toString()) as {
      method: string;
      params: {
        message?: { parts: readonly { text: string }[] };
        configuration?: { taskPushNotificationConfig?: { url: string } };
      };
    };
    if (method === 'SubscribeToTask') {
      response.writeHead(200, HEAD);
      response.write(frame(1, { task: { id: ids.taskId, status: { state: 'TASK_STATE_WORKING' } } }));
      listening.push(response);
      return;
    }
    const count = Number(params.message?.parts[0]?.text.split(' ')[1]);
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { task: { id: ids.taskId } } }));
    const webhook = params.configuration?.taskPushNotificationConfig?.url;
    if (webhook === undefined) void fanOut(count);
    else void deliver(webhook, count);
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

/** The notifications of one task, one after the other. */
async function deliver(webhook: string, count: number): Promise<void> {
  const chunks = Array.from({ length: count }, (_, index) => chunk(index));
  const events = [{ task: { id: ids.taskId } }, status('TASK_STATE_WORKING'), ...chunks];
  for (const [index, event] of [...events, status('TASK_STATE_COMPLETED')].entries()) {
    await send(new URL(webhook), { body: JSON.stringify(event), id: `${ids.taskId}/webhook/${index + 1}` });
  }
}

function send(url: URL, { body, id }: { readonly body: string; readonly id: string }): Promise<void> {
  const headers = ['host', url.host, 'content-length', String(Buffer.byteLength(body))];
  headers.push('content-type', 'application/a2a+json', 'x-a2a-notification-id', id);
  headers.push('x-a2a-notification-timestamp', String(Math.floor(Date.now() / 1000)));
  const { hostname: host, port, pathname: path } = url;
  return new Promise((resolve, reject) => {
    const sent = post({ host, port, path, method: 'POST', headers, agent: SENDING }, (answer) => {
      answer.resume().on('end', resolve);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
