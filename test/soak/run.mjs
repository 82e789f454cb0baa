// The soak: a real server on SQLite under mixed traffic at half of its maximum rate. It takes half a minute, in the
// long form (TEST_LONG=1) half an hour, or SOAK_SECONDS. Memory and times must stay constant, and every answer must be
// correct. At the end every task in the file is checked. SOAK_PLANTED gives the server a fault that the checks must
// find: see soak-server.mjs. The last line is `N passed, N failed`.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { refuseOldNode } from '../../scripts/node-version.mjs';
import { countLine } from '../../scripts/suites.mjs';
import { asDear, flat, steady } from './checks.mjs';

refuseOldNode();
const { openStorage } = await import('parley-a2a/storage');
const { watchedOutputs } = await import('../support/shown-secrets.mjs');
const { checkTasks } = await import('./invariants.mjs');
const { Client, jsonRpc } = await import('./client.mjs');
const { TIMED, Traffic } = await import('./traffic.mjs');

/**
 * V8 enlarges its young generation once, at any time: about 50 MB of RSS that are no leak. Here it has its full size
 * from the start.
 */
const FULL_NURSERY = ['--min-semi-space-size=16', '--max-semi-space-size=16'];
const seconds = Number(process.env.SOAK_SECONDS ?? (process.env.TEST_LONG ? 1800 : 30));
const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);
/** The ramp takes a part of the time; the first moments after it, in which caches fill, are not compared. */
const rampMs = Math.min(20_000, seconds * 150);
const loadMs = seconds * 1000 - rampMs;
const taskRetentionMs = Math.min(60_000, loadMs / 5);
const eventLogMs = taskRetentionMs / 2;
const sampleMs = Math.max(1000, loadMs / 100);
const settleMs = Math.min(taskRetentionMs, loadMs / 4);
/** Number of open calls above which the server is too slow. */
const MOST_OPEN = 3000;
const RAMP_CLIENTS = 24;
/** Of all operations, those that may meet the end of an idle connection. */
const REPEATED_PART = 0.0001;

const results = [];
const check = (name, { holds, said = '' }) => {
  results.push(holds);
  process.stdout.write(`${holds ? 'ok    ' : 'FAILED'} ${name}${said && `: ${said}`}\n`);
};

const folder = await mkdtemp(join(tmpdir(), 'parley-soak-'));
const url = `sqlite:${join(folder, 'soak.db')}`;
let server;
try {
  await soak();
} finally {
  server?.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
}
const failed = results.filter((holds) => !holds).length;
process.stdout.write(`${countLine({ passed: results.length - failed, failed })}\n`);
process.exit(failed === 0 ? 0 : 1);

async function soak() {
  const script = fileURLToPath(new URL('soak-server.mjs', import.meta.url));
  const execArgv = ['--expose-gc', ...FULL_NURSERY];
  server = fork(script, [url, taskRetentionMs, eventLogMs].map(String), { execArgv, silent: true });
  server.stdout.pipe(process.stdout);
  server.stderr.pipe(process.stderr);
  const outputs = watchedOutputs(server, 'the server');
  const exited = once(server, 'close');
  const { url: address } = await heard('ready');
  const idle = await measured();
  const client = new Client(address);
  const traffic = new Traffic({ client, random: generator(seed), recentMs: taskRetentionMs / 3 });

  const faults = [];
  const most = await ramp(traffic, faults);
  const rate = most / 2;
  process.stdout.write(
    `${most.toFixed(0)} operations/s at most, so ${rate.toFixed(0)}/s for ${loadMs / 1000} s; seed ${seed}\n`,
  );
  const { times, lags, heap, rss, cpu, done, open } = await load(traffic, { rate, faults });

  check('every answer was right', { holds: faults.length === 0, said: faults.slice(0, 3).join('\n') });
  check('the server kept up', {
    holds: open < MOST_OPEN && done > 0,
    said: `${done} operations, ${open} open at most`,
  });
  check('connections in use are not ended', {
    holds: client.repeated <= REPEATED_PART * done,
    said: `${client.repeated} of ${done} operations had to be sent again`,
  });
  check('heap is flat', flat('the heap after collections', heap, { allowedMb: 4, part: 0.1 }));
  check('RSS is flat', flat('RSS', rss, { allowedMb: 24, part: 0.15 }));
  check('times are flat', steady(0.5, { times, lags, factor: 2, allowedMs: 20 }));
  check('the slow ones too', steady(0.99, { times, lags, factor: 2, allowedMs: 60 }));
  check('an operation costs what it did', asDear(cpu, { factor: 1.6 }));

  const left = await eventually(async () => {
    const { list } = jsonRpc(client);
    const unfinished = ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED'];
    const counts = await Promise.all(unfinished.map((status) => list({ status, pageSize: 1 })));
    return counts.reduce((sum, { result }) => sum + result.totalSize, 0);
  });
  check('no task is stuck', { holds: left === 0, said: `${left} unfinished` });
  client.close();
  const sockets = await eventually(async () => (await measured()).sockets - idle.sockets);
  check('connections are gone', { holds: sockets === 0, said: `${sockets} are left` });

  server.kill('SIGTERM');
  const [code] = await exited;
  check('the server stops cleanly', { holds: code === 0, said: `it ended with ${code}` });
  const leaks = outputs.take();
  check('no output shows a planted secret', { holds: leaks.length === 0, said: leaks[0]?.text });
  const storage = await openStorage(url);
  const found = await checkTasks(storage, '/');
  await storage.close();
  const kept = `${traffic.finished} tasks were finished, ${found.tasks} are stored, ${found.whole} with their whole log`;
  check('retention took what was old', { holds: found.tasks < traffic.finished && found.cut > 0, said: kept });
  check('every stored task is whole', {
    holds: found.broken.length === 0 && found.whole > 0,
    said: found.broken.slice(0, 3).join('\n'),
  });
}

/** Operations per second that clients get who ask again as soon as they are answered; the first half warms up. */
async function ramp(traffic, faults) {
  const begun = Date.now();
  const half = begun + rampMs / 2;
  const end = begun + rampMs;
  let counted = 0;
  const client = async () => {
    while (Date.now() < end) {
      await traffic.one().catch((error) => faults.push(error.message));
      if (Date.now() >= half) counted += 1;
    }
  };
  await Promise.all(Array.from({ length: RAMP_CLIENTS }, client));
  return counted / ((Date.now() - half) / 1000);
}

/** Starts operations at a rate, independently of the answers. */
async function load(traffic, { rate, faults }) {
  const found = { times: [], lags: [], heap: [], rss: [], cpu: [], done: 0, open: 0 };
  const start = performance.now();
  const going = new Set();
  let begun = 0;
  let sampled = 0;
  const operate = async () => {
    const from = performance.now();
    try {
      const kind = await traffic.one();
      found.done += 1;
      if (TIMED.has(kind) && from - start > settleMs) found.times.push({ at: from, ms: performance.now() - from });
    } catch (error) {
      faults.push(error.message);
    }
  };
  const sample = async () => {
    const { heap, rss, cpuMicros } = await measured();
    const at = performance.now();
    if (at - start < settleMs) return;
    found.heap.push({ at, value: heap });
    found.rss.push({ at, value: rss });
    found.cpu.push({ at, cpuMicros, done: found.done });
  };
  for (let now = start; now - start < loadMs; ) {
    const due = Math.floor(((now - start) / 1000) * rate);
    for (; begun < due && going.size < MOST_OPEN; begun += 1) {
      const operation = operate().finally(() => going.delete(operation));
      going.add(operation);
    }
    found.open = Math.max(found.open, going.size);
    if (now - start > sampled * sampleMs) {
      sampled += 1;
      await sample();
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
    const later = performance.now();
    found.lags.push({ at: later, value: later - now - 5 });
    now = later;
  }
  await Promise.all(going);
  return found;
}

/** Repeats a check until it finds no fault, for at most ten seconds. */
async function eventually(ask) {
  const end = Date.now() + 10_000;
  for (;;) {
    const left = await ask();
    if (left === 0 || Date.now() > end) return left;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function measured() {
  const answer = heard('measured');
  server.send({ kind: 'measure' });
  return answer;
}

/** The next message of a kind from the server. */
function heard(kind) {
  return new Promise((resolve, reject) => {
    const take = (message) => {
      if (message.kind !== kind) return;
      server.off('message', take);
      server.off('exit', fail);
      resolve(message);
    };
    const fail = (code, signal) => reject(new Error(`the server ended with ${code ?? signal}`));
    server.on('message', take);
    server.once('exit', fail);
  });
}

/** A random generator with a seed, so that a run can be repeated. */
function generator(state) {
  let value = state >>> 0;
  return () => {
    value = (value + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(value ^ (value >>> 15), value | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
