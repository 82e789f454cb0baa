import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { AgentExecutor, EventQueue, RequestContext } from 'parley-a2a/server';
import { FLAG_NAMES, flagOf, variableOf } from '../command-line/flags.js';

/** The options of `execAgent`. */
interface ExecAgentOptions {
  /** A command line for the shell. */
  readonly command: string;
  /** Splits the answer into chunks for streaming; absent for one chunk. */
  readonly chunk: string | undefined;
  /** Called with each line of the program's stderr. */
  readonly tell: (line: string) => void;
}

/** Time in ms that the program has to end after a signal before it is killed. */
const FORCE_MS = 4_000;
const ON_WINDOWS = process.platform === 'win32';
/** Maximum length of an answer without streaming, because it is held in memory. */
const MAX_ANSWER_CHARS = 16 * 1024 * 1024;
/** Linux refuses to start a program with a variable of more than 128 kB. */
const MAX_VARIABLE_BYTES = 64 * 1024;
/** Credentials of the tool, which are removed from the environment of the program. */
const SECRET_VARIABLES: ReadonlySet<string> = new Set(
  FLAG_NAMES.filter((name) => flagOf(name).secret === true).map(variableOf),
);

/**
 * Makes an agent from a program. Each message runs the program once, with the text on its stdin. The environment has
 * `A2A_TASK_ID`, `A2A_CONTEXT_ID` and `A2A_MESSAGE`. A message of more than 64 kB is in the file at `A2A_MESSAGE_FILE`
 * instead. The output is the answer, and an exit code other than 0 fails the task. Canceling a task kills the program
 * and its children.
 */
export function execAgent(options: ExecAgentOptions): AgentExecutor {
  return {
    async execute(context, events) {
      await events.working();
      using message = new MessageVariable(context.message);
      const child = startProgram(options.command, context, message.env);
      if (child.stderr !== null) createInterface({ input: child.stderr }).on('line', options.tell);
      // `exit` instead of `close`: a child of the program may keep its stderr open. Its stdout is read to the end
      // before.
      const ended = once(child, 'exit');
      // The error is handled at the `await` below.
      ended.catch(() => {});
      const stop = () => endGroup(child);
      context.signal.addEventListener('abort', stop, { once: true });
      try {
        await relay({ child, events, chunk: options.chunk, signal: context.signal });
        const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null];
        if (context.signal.aborted) return;
        if (code === 0) await events.complete();
        else await events.fail(`The program ended with ${signal ?? `exit code ${code}`}`);
      } finally {
        context.signal.removeEventListener('abort', stop);
        stop();
      }
    },
  };
}

/**
 * A message as an environment variable: the message itself, or the path of a file that exists while the program runs.
 */
class MessageVariable implements Disposable {
  readonly env: Readonly<Record<string, string>>;
  readonly #folder: string | undefined;

  constructor(message: object) {
    const text = JSON.stringify(message);
    if (Buffer.byteLength(text) <= MAX_VARIABLE_BYTES) {
      this.env = { A2A_MESSAGE: text };
      return;
    }
    this.#folder = mkdtempSync(join(tmpdir(), 'parley-message-'));
    const path = join(this.#folder, 'message.json');
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
    this.env = { A2A_MESSAGE_FILE: path };
  }

  [Symbol.dispose](): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }
}

function startProgram(
  command: string,
  { text, taskId, contextId }: RequestContext,
  message: Readonly<Record<string, string>>,
): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !SECRET_VARIABLES.has(name));
  const env = { ...Object.fromEntries(inherited), A2A_TASK_ID: taskId, A2A_CONTEXT_ID: contextId, ...message };
  // A separate process group, so that the children of the program are killed with it. On Windows it would open a
  // console.
  const child = spawn(command, { shell: true, env, stdio: 'pipe', detached: !ON_WINDOWS, windowsHide: true });
  // A program may close its stdin without reading it.
  child.stdin?.on('error', () => {});
  child.stdin?.end(text);
  return child;
}

async function relay({
  child,
  events,
  chunk,
  signal,
}: {
  readonly child: ChildProcess;
  readonly events: EventQueue;
  readonly chunk: string | undefined;
  readonly signal: AbortSignal;
}): Promise<void> {
  let pending = '';
  let artifactId: string | undefined;
  const say = async (text: string) => {
    if (artifactId === undefined) artifactId = await events.artifact(text, { name: 'response' });
    else await events.append(artifactId, text);
  };
  for await (const piece of child.stdout?.setEncoding('utf8') ?? []) {
    if (signal.aborted) return;
    pending += piece;
    if (chunk === undefined) {
      if (pending.length > MAX_ANSWER_CHARS) throw new Error('the program answers more than can be held');
      continue;
    }
    const cut = pending.lastIndexOf(chunk);
    if (cut < 0) continue;
    const pieces = pending.slice(0, cut + chunk.length).split(chunk);
    pending = pending.slice(cut + chunk.length);
    for (const one of pieces.slice(0, -1)) await say(`${one}${chunk}`);
  }
  if (pending !== '' && !signal.aborted) await say(pending);
}

function endGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  signalGroup(child, 'SIGTERM');
  const force = setTimeout(() => signalGroup(child, 'SIGKILL'), FORCE_MS);
  force.unref();
  child.once('exit', () => clearTimeout(force));
}

/** Signals a program and its children. Windows has no signals and no groups: `taskkill` ends the tree of processes. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  if (ON_WINDOWS) {
    spawn('taskkill', ['/pid', `${child.pid}`, '/t', '/f'], { stdio: 'ignore' }).once('error', () => child.kill());
    return;
  }
  try {
    process.kill(-child.pid, signal);
  } catch {
    child.kill(signal);
  }
}
