// The agents that the frameworks call, each at its own path of one server with the defaults of the library. Prints the
// url of the server and serves until its input ends. FRAMEWORKS_LOG=1 writes the head of every request to stderr.
import { subscribe } from 'node:diagnostics_channel';
import { setTimeout as pause } from 'node:timers/promises';
import { createA2AHost } from 'parley-a2a';
import {
  ARTIFACT,
  CHUNKS,
  DIRECT,
  described,
  LINKED,
  PAUSES,
  QUESTION,
  REASON,
  REPORT,
  SLOW_CHUNKS,
  WHOLE,
} from './texts.mjs';

async function* stream() {
  for (const [at, chunk] of CHUNKS.entries()) {
    if (PAUSES[at] > 0) await pause(PAUSES[at]);
    yield chunk;
  }
}

async function* slowStream() {
  for (const chunk of SLOW_CHUNKS) {
    await pause(180);
    yield chunk;
  }
}

const artifact = {
  async execute(_, events) {
    await events.working();
    await events.artifact(ARTIFACT, { name: 'ticket' });
    await events.complete();
  },
};

const questions = {
  async execute({ text, task, history }, events) {
    if (task?.status.state !== 'TASK_STATE_INPUT_REQUIRED') return events.inputRequired(QUESTION);
    const first = history[0]?.parts.map((part) => ('text' in part ? part.text : '')).join('\n');
    await events.artifact(`You said: ${first} / ${text}`);
    await events.complete();
  },
};

const slow = {
  async execute({ signal }, events) {
    await events.working('Rowing…');
    if (!signal.aborted) await new Promise((aborted) => signal.addEventListener('abort', aborted, { once: true }));
  },
};

const fileOut = {
  async execute(_, events) {
    const raw = { raw: REPORT.bytes, filename: REPORT.name, mediaType: REPORT.mediaType };
    const linked = { url: LINKED.url, filename: LINKED.name, mediaType: LINKED.mediaType };
    await events.artifact(raw, { name: REPORT.name });
    await events.artifact(linked, { name: LINKED.name });
    await events.complete();
  },
};

const fileIn = {
  async execute({ message }, events) {
    const files = message.parts.filter((part) => 'raw' in part);
    const texts = files.map(({ filename, mediaType, raw }) => described({ name: filename, mediaType, bytes: raw }));
    await events.artifact(texts.length === 0 ? 'no file' : texts.join(', '));
    await events.complete();
  },
};

const fails = {
  execute() {
    throw new Error('The agent of the suite throws');
  },
};

const failsWithReason = { execute: (_, events) => events.fail(REASON) };

const either = { replies: 'either', execute: (_, events) => events.message(DIRECT) };

const AGENTS = {
  '/whole': () => WHOLE,
  '/stream': stream,
  '/slow-stream': slowStream,
  '/artifact': artifact,
  '/questions': questions,
  '/slow': slow,
  '/file-out': fileOut,
  '/file-in': fileIn,
  '/fails': fails,
  '/fails-with-reason': failsWithReason,
  '/either': either,
};

if (process.env.FRAMEWORKS_LOG !== undefined) {
  subscribe('http.server.request.start', ({ request: { method, url, headers } }) => {
    const { 'user-agent': agent, accept, 'a2a-version': version, 'a2a-extensions': extensions } = headers;
    process.stderr.write(`${JSON.stringify({ method, url, agent, accept, version, extensions })}\n`);
  });
}

const silent = () => {};
const host = createA2AHost({
  agents: Object.fromEntries(Object.entries(AGENTS).map(([path, agent]) => [path, { agent, ...cardOf(path) }])),
  logger: { debug: silent, info: silent, warn: silent, error: silent },
});
const { url } = await host.listen(0, '127.0.0.1');
process.stdout.write(`${url}\n`);
process.stdin.resume();
process.stdin.once('end', () => process.exit(0));

function cardOf(path) {
  return { name: `Agent ${path.slice(1)}`, description: `Plays ${path.slice(1)} for frameworks.` };
}
