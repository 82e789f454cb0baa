// The ceiling: the fastest node:http server that reads a request, parses its JSON and writes an answer of the right
// shape. The answer is fixed except for its ids. A stream is one write for each chunk.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { storedTask, storedTaskId } from '../stored-tasks.js';
import { CHUNKS, chunkText, nextTurn, QUESTION, WORKLOADS } from '../workloads.js';
import { portOf, ready, workloadArgument } from './subject-host.js';

const TASK = '0190b7c2-2222-7abc-8def-0123456789ab';
const FIRST_ID = storedTaskId(0);
const CONTEXT = '5e0c2f0a-6f0e-4a54-9c3d-0123456789ab';
const ARTIFACT = '7d1f3b1c-2a2b-4c4d-8e8f-0123456789ab';
const MESSAGE = '9a9b9c9d-3a3b-4c4d-8e8f-0123456789ab';
const TIME = '2026-01-01T00:00:00.000Z';

const ids = { taskId: TASK, contextId: CONTEXT };
const submitted = {
  id: TASK,
  contextId: CONTEXT,
  status: { state: 'TASK_STATE_SUBMITTED', timestamp: TIME },
  history: [{ messageId: MESSAGE, role: 'ROLE_USER', parts: [{ text: QUESTION }], ...ids }],
};
const status = (state: string) => ({ statusUpdate: { ...ids, status: { state, timestamp: TIME } } });
const chunk = (index: number) => ({
  artifactUpdate: {
    ...ids,
    artifact: { artifactId: ARTIFACT, parts: [{ text: chunkText(index) }] },
    ...(index > 0 && { append: true }),
  },
});

const MESSAGE_RESULT = JSON.stringify({
  message: { messageId: MESSAGE, role: 'ROLE_AGENT', contextId: CONTEXT, parts: [{ text: QUESTION }] },
});
const TASK_RESULT = JSON.stringify({
  task: {
    ...submitted,
    status: { state: 'TASK_STATE_COMPLETED', timestamp: TIME },
    artifacts: [{ artifactId: ARTIFACT, name: 'response', parts: [{ text: QUESTION }] }],
  },
});
const EVENTS = [
  { task: submitted },
  status('TASK_STATE_WORKING'),
  ...Array.from({ length: CHUNKS }, (_, index) => chunk(index)),
  status('TASK_STATE_COMPLETED'),
].map((event) => JSON.stringify(event));

const JSON_HEADERS = { 'content-type': 'application/json' };
const STREAM_HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' };

const workload = WORKLOADS[workloadArgument()];
const RESULTS = { call: MESSAGE_RESULT, task: TASK_RESULT, get: JSON.stringify(storedTask(0)), list: '', stream: '' };
const result = RESULTS[workload.kind];

const server = createServer((request, response) => {
  readBody(request, (body) => {
    const { id, params } = JSON.parse(body) as { id: unknown; params?: { id: string } };
    const [opening, end] =
      workload.method === undefined ? ['', ''] : [`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`, '}'];
    if (workload.kind === 'stream') void answerStream(response, opening, end);
    else if (workload.kind === 'get') answer(response, `${opening}${result.replace(FIRST_ID, params?.id ?? '')}${end}`);
    else answer(response, `${opening}${result}${end}`);
  });
});
server.listen(0, '127.0.0.1', () => ready(portOf(server.address())));

function readBody(request: IncomingMessage, then: (body: string) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (data: Buffer) => chunks.push(data));
  request.on('end', () => then((chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)).toString()));
}

function answer(response: ServerResponse, body: string): void {
  response.writeHead(200, { ...JSON_HEADERS, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/**
 * Each chunk is written in its own turn of the event loop, like the tokens of a model. So are the first and the last
 * frames.
 */
async function answerStream(response: ServerResponse, opening: string, end: string): Promise<void> {
  response.writeHead(200, STREAM_HEADERS);
  for (let index = 0; index < EVENTS.length; index++) {
    if (index >= 2 && index < EVENTS.length - 1) await nextTurn();
    response.write(`id: ${index + 1}\ndata: ${opening}${EVENTS[index]}${end}\n\n`);
  }
  response.end();
}
