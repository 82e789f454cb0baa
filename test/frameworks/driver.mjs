// A driver: a process that plays cases with one framework. Requests and answers are lines of JSON.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** The time of one case. */
export const CASE_MS = 30_000;
const START_MS = 120_000;
const END_MS = 5000;
const LOG_CHARACTERS = 4000;

/** Settings that keep frameworks from calling anything beyond loopback. */
const QUIET = {
  CREWAI_DISABLE_TELEMETRY: 'true',
  CREWAI_DISABLE_TRACKING: 'true',
  CREWAI_TRACING_ENABLED: 'false',
  CREWAI_TESTING: 'true',
  OTEL_SDK_DISABLED: 'true',
  BEEAI_TELEMETRY_ENABLED: 'false',
  MASTRA_TELEMETRY_DISABLED: '1',
  DO_NOT_TRACK: '1',
  // A call to anything but loopback fails at once.
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: 'localhost,127.0.0.1,::1',
};

/** Starts a driver. Resolves when it is ready, to its version and the functions `ask` and `end`. */
export async function startDriver({ command, args, env = {} }) {
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    env: { ...process.env, ...QUIET, ...env },
  });
  const kill = () => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The group has ended.
    }
  };
  process.once('exit', kill);
  let log = '';
  child.stderr.on('data', (chunk) => {
    log = (log + chunk).slice(-LOG_CHARACTERS);
  });
  // A driver that dies is reported by its exit.
  child.stdin.on('error', () => {});
  const closed = new Promise((resolve) => child.once('close', resolve));
  const waiting = new Map();
  let ended;
  const failAll = (reason) => {
    ended = reason;
    for (const { fail } of waiting.values()) fail(new Error(reason));
    waiting.clear();
  };
  child.once('error', (error) => failAll(error.message));
  child.once('exit', (code) => failAll(`The driver ended with ${code}`));
  createInterface({ input: child.stdout }).on('line', (line) => settle(waiting, line));

  const answer = (id, ms) =>
    new Promise((resolve, reject) => {
      const done = (settled) => (value) => {
        clearTimeout(timer);
        waiting.delete(id);
        settled(value);
      };
      const timer = setTimeout(() => done(reject)(new Error(`The driver gave no answer in ${ms / 1000} s`)), ms);
      waiting.set(id, { done: done(resolve), fail: done(reject) });
    });
  let last = 0;
  const ask = (request) => {
    if (ended !== undefined) return Promise.reject(new Error(ended));
    const id = ++last;
    child.stdin.write(`${JSON.stringify({ id, ...request })}\n`);
    return answer(id, CASE_MS);
  };
  const end = async () => {
    child.stdin.end();
    const timer = setTimeout(kill, END_MS);
    await closed;
    clearTimeout(timer);
    kill();
    process.off('exit', kill);
  };
  try {
    const { version } = await answer('ready', START_MS);
    return { version, ask, end, log: () => log };
  } catch (error) {
    kill();
    throw new Error(`${error.message}\n${log}`);
  }
}

function settle(waiting, line) {
  let said;
  try {
    said = JSON.parse(line);
  } catch {
    process.stderr.write(`A driver wrote to its output: ${line.slice(0, 200)}\n`);
    return;
  }
  waiting.get(said.ready === true ? 'ready' : said.id)?.done(said);
}
