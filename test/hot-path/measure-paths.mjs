// Measures the allocations of one call of each hot path, over the exchange (no sockets) with tasks in memory. Prints
// one line of JSON. Usage: node --expose-gc --no-opt --no-maglev --min-semi-space-size=256 --max-semi-space-size=256
// measure-paths.mjs
import { PerformanceObserver } from 'node:perf_hooks';
import { promiseHooks } from 'node:v8';
import { agent, createAgentHandler } from 'parley-a2a/server';

const CALLS = 2000;
const CHUNKS = { few: 20, many: 220 };
const STREAMS = 50;
const ROUNDS = 5;

// A timestamp is made once per millisecond: how many calls that serves must not depend on how fast the machine is.
let now = Date.parse('2026-01-01T00:00:00Z');
Date.now = () => now;

const parrot = { replies: 'either', execute: (context, events) => events.message(context.text) };
const all = { metrics: true, logRequests: true, cors: '*', nosniff: true, compression: true, health: true };
const exchanges = {
  message: serve(parrot),
  watched: serve(parrot, all),
  task: serve(agent((prompt) => prompt)),
  stream: serve(
    agent(async function* (prompt) {
      for (let index = 0; index < Number(prompt); index++) yield 'This is one chunk of an answer. ';
    }),
  ),
};

let sent = 0;
const send = (text) => ({ message: { messageId: `m${++sent}`, role: 'ROLE_USER', parts: [{ text }] } });
/** Long enough that one more copy of it shows. */
const question = 'Hello, what is the weather like in Berlin tomorrow? '.repeat(40);
const { task } = JSON.parse(await answerOf(exchanges.task, 'SendMessage', send(question))).result;

const paths = {
  'SendMessage → Message': () => answerOf(exchanges.message, 'SendMessage', send(question)),
  'SendMessage → Message, with everything around it': () => answerOf(exchanges.watched, 'SendMessage', send(question)),
  'SendMessage → task': () => answerOf(exchanges.task, 'SendMessage', send(question)),
  GetTask: () => answerOf(exchanges.task, 'GetTask', { id: task.id }),
};
const stream = (chunks) => () => answerOf(exchanges.stream, 'SendStreamingMessage', send(String(chunks)));

const figures = {};
for (const [name, call] of Object.entries(paths)) figures[name] = await costOf(call, CALLS);
const few = await costOf(stream(CHUNKS.few), STREAMS);
const many = await costOf(stream(CHUNKS.many), STREAMS);
const perChunk = (figure) => (many[figure] - few[figure]) / (CHUNKS.many - CHUNKS.few);
figures['a streamed chunk'] = { bytes: perChunk('bytes'), promises: perChunk('promises') };
process.stdout.write(`${JSON.stringify(figures)}\n`);
process.exit();

function serve(executor, options = {}) {
  return createAgentHandler({ agent: executor, url: 'http://127.0.0.1', ...options }).exchange;
}

/** The smallest request that an adapter could hand over; what it allocates itself is in the figures. */
async function answerOf(exchange, method, params) {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  const answer = await exchange({
    method: 'POST',
    path: '/a2a/jsonrpc',
    query: '',
    peer: '127.0.0.1',
    header: (name) => (name === 'content-type' ? 'application/json' : name === 'a2a-version' ? '1.0' : undefined),
    body: async () => body,
    get signal() {
      return new AbortController().signal;
    },
  });
  if (typeof answer.body === 'string') return checked(answer.body);
  let text = '';
  for await (const frames of answer.body) text += frames;
  return checked(text);
}

function checked(text) {
  if (text.includes('"error"') || !text.includes('"result"')) throw new Error(text);
  return text;
}

/** Per call, after as many that warm it up: bytes on the heap with no collection in between, and promises. */
async function costOf(call, calls) {
  for (let index = 0; index < calls; index++) await step(call);
  const bytes = await bytesOf(call, calls);
  let promises = 0;
  const stop = promiseHooks.onInit(() => {
    promises++;
  });
  for (let index = 0; index < calls; index++) await step(call);
  stop();
  return { bytes, promises: promises / calls };
}

/** On a slow machine the collector sometimes runs by itself. Such a round is discarded. */
async function bytesOf(call, calls) {
  for (let round = 0; round < ROUNDS; round++) {
    const { bytes, collections } = await measured(call, calls);
    if (collections === 0) return bytes;
  }
  throw new Error('a collection runs in between each time: the young generation is too small for the figures');
}

async function measured(call, calls) {
  let collections = 0;
  const observer = new PerformanceObserver((list) => {
    collections += list.getEntries().length;
  });
  observer.observe({ entryTypes: ['gc'] });
  globalThis.gc();
  await new Promise((resolve) => setTimeout(resolve, 5));
  collections = 0;
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < calls; index++) await step(call);
  const bytes = (process.memoryUsage().heapUsed - before) / calls;
  await new Promise((resolve) => setTimeout(resolve, 5));
  observer.disconnect();
  return { bytes, collections };
}

async function step(call) {
  await call();
  now += 1;
}
