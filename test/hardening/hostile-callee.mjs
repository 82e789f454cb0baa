// An agent whose streams are hostile. It sends its port to the parent process. The text of a message is the shape of
// its stream and the number of bytes: `unknown lines 300000`.
import { createServer } from 'node:net';

const event = (result) => `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result })}\n\n`;
const ids = { taskId: 'task', contextId: 'context' };
const begin = event({ task: { id: 'task', contextId: 'context', status: { state: 'TASK_STATE_WORKING' } } });
const end = event({ statusUpdate: { ...ids, status: { state: 'TASK_STATE_COMPLETED' } } });
const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'x'.repeat(200) }] };
const usual = event({ statusUpdate: { ...ids, status: { state: 'TASK_STATE_WORKING', message } } });
const ignored = event({});

const fill = (piece, bytes) => piece.repeat(Math.ceil(bytes / piece.length));
const whole = (text) => [`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`];
/** Each byte in a chunk of its own, which has six bytes on the wire. */
const single = (text) => [text.replaceAll(/./gs, (byte) => `1\r\n${byte}\r\n`)];
const spread = (text, bytes, line) => text.replace('data: {', `data: {\n${fill(line, bytes)}data: `);

/** The chunks between the first and the last event. */
const SHAPES = {
  'usual events': (bytes) => whole(fill(usual, bytes)),
  'unknown lines': (bytes) => whole(fill('x\n', bytes)),
  'blank lines': (bytes) => whole(fill('\n', bytes)),
  'comment lines': (bytes) => whole(fill(':\n', bytes)),
  'retry lines': (bytes) => whole(fill('retry:x\n', bytes)),
  'lines that end with CR': (bytes) => whole(fill(':\r', bytes)),
  'one CR behind many lines': (bytes) => whole(fill(`${':\n'.repeat(30_000)}\r`, bytes)),
  'lines of ids': (bytes) => whole(fill('id:1\n', bytes)),
  'frames without data': (bytes) => whole(fill('event:x\n\n', bytes)),
  'an event of tiny lines': (bytes) => whole(spread(usual, bytes, 'data:\n')),
  'unknown lines within an event': (bytes) => whole(spread(usual, bytes, 'x\n')),
  'lines in chunks of one byte': (bytes) => single(fill(`:${'x'.repeat(65_000)}\n`, bytes / 6)),
  'comments in chunks of one byte': (bytes) => single(fill(':\n', bytes / 6)),
  'events of no known kind': (bytes) => whole(fill(ignored, bytes)),
  'a wide value': (bytes) => {
    const members = Array.from({ length: Math.ceil(bytes / 12) }, (_, at) => `"k${at}":0`);
    return whole(usual.replace('"parts":', `"metadata":{${members.join()}},"parts":`));
  },
};

const head = (type) => `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`;

const server = createServer((socket) => {
  socket.on('error', () => {});
  let received = '';
  socket.on('data', (data) => {
    received += data;
    if (received.startsWith('GET')) {
      if (!received.includes('\r\n\r\n')) return;
      received = '';
      const url = `http://127.0.0.1:${server.address().port}/`;
      const card = {
        name: 'Hostile',
        description: 'Sends hostile streams',
        version: '1',
        capabilities: { streaming: true },
        defaultInputModes: ['text/plain'],
        defaultOutputModes: ['text/plain'],
        skills: [],
        supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      };
      socket.write([head('application/json'), ...whole(JSON.stringify(card)), '0\r\n\r\n'].join(''));
      return;
    }
    const answered = /"id":("[^"]*"|\d+)[^{]*"method":"GetTask"/.exec(received);
    if (answered !== null) {
      const result = { id: 'task', contextId: 'context', status: { state: 'TASK_STATE_COMPLETED' } };
      const body = `{"jsonrpc":"2.0","id":${answered[1]},"result":${JSON.stringify(result)}}`;
      received = '';
      return socket.write([head('application/json'), ...whole(body), '0\r\n\r\n'].join(''));
    }
    const said = /"text":"([^"]+) (\d+)"/.exec(received);
    if (said === null) return;
    received = '';
    const [, shape, bytes] = said;
    for (const chunk of [head('text/event-stream'), ...whole(begin)]) socket.write(chunk);
    for (const chunk of SHAPES[shape](Number(bytes))) socket.write(chunk);
    socket.write([...whole(end), '0\r\n\r\n'].join(''));
  });
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port, shapes: Object.keys(SHAPES) }));
process.on('disconnect', () => process.exit());
