import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PARLEY } from '../parley.js';

/** A running agent with the behaviour of `parley demo-server`. */
export interface LiveAgent extends AsyncDisposable {
  readonly url: string;
}

/** An implementation of this agent, with its name in reports. */
export interface AgentKind {
  readonly name: string;
  readonly start: () => Promise<LiveAgent>;
}

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The Python of the Python agent, if its environment was made. */
export function pythonOfAgent(): string | undefined {
  const wanted = createHash('sha256')
    .update(readFileSync(at('requirements.txt')))
    .digest('hex')
    .slice(0, 12);
  const folder = at(`../../../.cache/python-agent-${wanted}/`);
  return existsSync(`${folder}complete`) ? `${folder}bin/python` : undefined;
}

/** The agents on our library and on the official SDKs. Python only if its environment was made. */
export function agentKinds(): readonly AgentKind[] {
  const python = pythonOfAgent();
  return [
    { name: 'Parley', start: () => startAgent(process.execPath, [PARLEY, 'demo-server', '--port', '0', '--quiet']) },
    { name: '@a2a-js/sdk', start: () => startAgent(process.execPath, [at('javascript-agent.ts')]) },
    ...(python === undefined ? [] : [{ name: 'a2a-sdk', start: () => startAgent(python, [at('python_agent.py')]) }]),
  ];
}

async function startAgent(command: string, args: readonly string[]): Promise<LiveAgent> {
  const { PATH = '' } = process.env;
  const child = spawn(command, args, { env: { PATH, NODE_NO_WARNINGS: '1' }, stdio: ['ignore', 'pipe', 'pipe'] });
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  return {
    url: await readUrl(child),
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function readUrl(child: ChildProcess): Promise<string> {
  let said = '';
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      said += chunk.toString();
      const url = /^URL: (\S+)$/m.exec(said)?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', (code) => reject(new Error(`The agent ended with ${code}:\n${said}`)));
  });
}
