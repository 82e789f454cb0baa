// Runs the commands of the other scripts. Like all of them it works on Node.js 20.11 too, and without installed
// packages, because it installs the Node.js of the repository.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { scriptSentence } from './node-version.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** The Node.js of the repository. Everything except the set-up runs on it. */
export const ownNode = join(root, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node');

/** True if Node.js was started with this script, and false if another script imports it. */
export function isMain(url) {
  return process.argv[1] !== undefined && realpathSync(process.argv[1]) === realpathSync(fileURLToPath(url));
}

/** Commands find the tools of the repository first. */
function environment(extra) {
  const path = [join(root, 'node_modules/.bin'), process.env.PATH ?? ''].join(delimiter);
  return { ...process.env, ...extra, PATH: path };
}

/**
 * Runs a command in the root folder. Resolves to its exit code and, with `quiet`, to its output. `onLine` gets each
 * line of a quiet command at once. With `silenceMs` it is ended, with all its children, when it has written nothing
 * for that time.
 */
export function run(command, args, { quiet = false, env = {}, silenceMs, onLine } = {}) {
  return new Promise((resolve, reject) => {
    // Nothing begins after a signal.
    if (endedBy !== undefined) return;
    const isGroup = silenceMs !== undefined;
    const stdio = quiet || isGroup ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'];
    const child = spawn(command, args, { cwd: root, stdio, env: environment(env), detached: isGroup });
    const end = isGroup ? limitSilence(child, silenceMs) : () => {};
    let output = '';
    for (const [stream, own] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ]) {
      stream?.on('data', (data) => {
        if (quiet) output += data;
        else own.write(data);
      });
      if (stream !== null && onLine !== undefined) createInterface({ input: stream }).on('line', onLine);
    }
    child.once('error', reject);
    let ended;
    child.once('exit', () => {
      ended = end();
    });
    child.once('close', async (code, signal) => {
      await ended;
      resolve({ code: code ?? (signal === null ? 1 : 128), output });
    });
  });
}

/** Processes with a group of their own. They get no signal from the terminal, so this process passes them on. */
const groups = new Set();
/** Processes that the groups had started when they were asked to end: tests start servers with own groups. */
let started = [];
/** The signal that ends this process, as soon as no group is left. */
let endedBy;

function signalGroup(child, signal) {
  started.push(...descendants(child.pid));
  try {
    process.kill(-child.pid, signal);
  } catch {
    child.kill(signal);
  }
}

function endGroups(signal) {
  // At the second signal, groups that hang are killed.
  for (const child of groups) signalGroup(child, endedBy === undefined ? signal : 'SIGKILL');
  endedBy = signal;
  exitIfEnded();
}

function exitIfEnded() {
  if (endedBy !== undefined && groups.size === 0) process.exit(128 + constants.signals[endedBy]);
}

/** From here on, a signal ends the groups first, then this process: with its handlers of `exit`. */
function watchSignals() {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, endGroups).on(signal, endGroups);
}

/**
 * Does work that no other process does at the same time. A program holds the lock, and ends with this process. Without
 * `flock` there is no lock.
 */
export async function alone(lock, work) {
  mkdirSync(dirname(lock), { recursive: true });
  const holder = spawn('flock', [lock, 'sh', '-c', 'echo; exec cat'], { stdio: ['pipe', 'pipe', 'ignore'] });
  await new Promise((resolve) => holder.once('error', resolve).stdout.once('data', resolve));
  try {
    return await work();
  } finally {
    holder.stdin?.end();
  }
}

/** A new folder for temporary files. It is removed when this process exits, also after a signal. */
export function temporaryFolder(name) {
  const folder = mkdtempSync(join(tmpdir(), `parley-${name}-`));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  watchSignals();
  return folder;
}

/** The time from the request to end until a process that does not is killed. */
const KILL_AFTER_MS = 10_000;

/** Ends a group that is silent. The function that it returns is called when the process has ended. */
function limitSilence(child, silenceMs) {
  let killing;
  const timer = setTimeout(() => {
    process.stdout.write(`Ended after ${Math.round(silenceMs / 6_000) / 10} min without a word: it hangs\n`);
    signalGroup(child, 'SIGTERM');
    killing = setTimeout(() => signalGroup(child, 'SIGKILL'), KILL_AFTER_MS);
  }, silenceMs);
  for (const stream of [child.stdout, child.stderr]) stream.on('data', () => timer.refresh());
  watchSignals();
  groups.add(child);
  return async () => {
    clearTimeout(timer);
    clearTimeout(killing);
    await endStarted();
    groups.delete(child);
    exitIfEnded();
  };
}

/** Ends what a group left behind: first by SIGTERM, then by SIGKILL. */
async function endStarted() {
  const left = started;
  started = [];
  for (const [signal, rounds] of [
    ['SIGTERM', 30],
    ['SIGKILL', 1],
  ]) {
    for (const one of left.filter(isAlive)) process.kill(one.pid, signal);
    for (let round = 0; round < rounds && left.some(isAlive); round++) await wait(100);
  }
}

/** The descendants of a process, on systems with /proc; elsewhere none. */
function descendants(pid) {
  if (!existsSync('/proc/self/stat')) return [];
  const all = readdirSync('/proc').flatMap((name) => processOf(Number(name)) ?? []);
  const found = [];
  const parents = new Set([pid]);
  for (let size = 0; size < parents.size; ) {
    size = parents.size;
    for (const one of all) {
      if (!parents.has(one.parent) || parents.has(one.pid)) continue;
      parents.add(one.pid);
      found.push(one);
    }
  }
  return found;
}

/** A process by its number, with its parent and the time of its start, which tells it from a later one. */
function processOf(pid) {
  if (!Number.isInteger(pid)) return undefined;
  try {
    const [state, parent, ...fields] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
    return state === 'Z' ? undefined : { pid, parent: Number(parent), start: fields[17] };
  } catch {
    return undefined;
  }
}

function isAlive({ pid, start }) {
  return processOf(pid)?.start === start;
}

/** Runs a script of the repository on its own Node.js. */
export function runOwn(args, options) {
  return run(ownNode, args, options);
}

/** Runs npm: the one that started this script, on its Node.js, or the one of the machine. */
export function runNpm(args, options) {
  const { npm_execpath: npm, npm_node_execpath: node } = process.env;
  if (npm !== undefined && node !== undefined && npm.endsWith('.js')) return run(node, [npm, ...args], options);
  // Windows starts no script of its shell as a program. The installer of Node.js puts npm beside it.
  const beside = join(dirname(process.execPath), 'node_modules/npm/bin/npm-cli.js');
  if (process.platform === 'win32' && existsSync(beside)) return run(process.execPath, [beside, ...args], options);
  return run('npm', args, options);
}

/** A command that failed after it printed its output. */
export class CommandFailed extends Error {}

/** The steps that run, with the time of their beginning. */
const steps = new Map();
let progress;
/** One line of a terminal moves. Elsewhere, each step that takes long has a line from time to time. */
const isTerminal = process.stdout.isTTY === true;

/** Runs a step quietly. Its seconds are shown while it runs. Its output is shown only if it fails. */
export async function step(title, start) {
  const began = Date.now();
  steps.set(title, began);
  if (steps.size === 1) progress = setInterval(showSteps, isTerminal ? 1000 : 10_000);
  if (isTerminal) showSteps();
  else say(`${title} …`);
  try {
    const { code, output } = await start();
    if (code !== 0) {
      say(output.trimEnd());
      throw new CommandFailed(`${title} failed`);
    }
    say(`${title}: done in ${((Date.now() - began) / 1000).toFixed(1)} s`);
  } finally {
    steps.delete(title);
    if (steps.size === 0) clearInterval(progress);
    else if (isTerminal) showSteps();
  }
}

function showSteps() {
  const texts = Array.from(steps, ([title, began]) => `${title} … ${Math.round((Date.now() - began) / 1000)} s`);
  if (isTerminal) process.stdout.write(`\r\x1b[K${texts.join(', ').slice(0, process.stdout.columns - 1)}`);
  else for (const text of texts) say(text);
}

function say(text) {
  process.stdout.write(`${isTerminal ? '\r\x1b[K' : ''}${text}\n`);
}

/** Runs the main function of a script. A failed command ends it with code 1 and one line. */
export async function main(run) {
  process.stdout.write(scriptSentence() ?? '');
  try {
    process.exitCode = (await run()) ?? 0;
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
