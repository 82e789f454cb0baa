// A server whose bad agent throws in many callbacks of process.nextTick while requests of a good agent come in. They
// come on connections that are open already, so Node.js reads them right behind the first error. A thread is the
// client, because the agent holds the event loop until that thread has written. Prints the answers as JSON.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { createA2AHost } from 'parley-a2a/node';

const ERRORS = 50;
const CALLERS = 10;
const [ARMED, WRITTEN] = [1, 2];

if (isMainThread) await serve();
else await call(workerData);

async function serve() {
  const step = new Int32Array(new SharedArrayBuffer(4));
  const bad = {
    execute() {
      const trap = () => {
        throw new Error('of the agent');
      };
      setTimeout(() => {
        for (let tick = 0; tick < ERRORS; tick += 1) process.nextTick(trap);
        reach(step, ARMED);
        Atomics.wait(step, 0, ARMED);
      }, 0);
      return new Promise(() => {});
    },
  };
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const agents = { '/bad': { agent: bad, name: 'Bad' }, '/good': { agent: () => 'hi', name: 'Good' } };
  const host = createA2AHost({ agents, logger });
  const { url } = await host.listen(0);
  const client = new Worker(new URL(import.meta.url), { workerData: { port: Number(new URL(url).port), step } });
  const [statuses] = await once(client, 'message');
  console.log(JSON.stringify(statuses));
  process.exit();
}

async function call({ port, step }) {
  const open = async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };
  const sockets = await Promise.all(Array.from({ length: CALLERS }, open));
  await Promise.all(sockets.map((socket) => send(socket, 'good')));
  send(await open(), 'bad');
  // The request to the bad agent leaves before this thread waits.
  await new Promise((resolve) => setImmediate(resolve));
  Atomics.wait(step, 0, 0);
  const statuses = sockets.map((socket) => send(socket, 'good'));
  await new Promise((resolve) => setImmediate(resolve));
  reach(step, WRITTEN);
  parentPort.postMessage(await Promise.all(statuses));
}

function reach(step, next) {
  Atomics.store(step, 0, next);
  Atomics.notify(step, 0);
}

/** The status of the answer. */
async function send(socket, agent) {
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] };
  const body = JSON.stringify({ message });
  const head = [
    `POST /${agent}/message:send HTTP/1.1`,
    'host: 127.0.0.1',
    'a2a-version: 1.0',
    'content-type: application/json',
    `content-length: ${body.length}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  const [answer] = await once(socket, 'data');
  return Number(String(answer).split(' ')[1]);
}
