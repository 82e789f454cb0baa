import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { EmptyFolder, parleyJson, RunningParley } from '../cli/parley.js';
import { MountedAgent, stateOf } from '../hosts/mounted-agent.js';
import { type Body, type Frame, sendParams } from '../interop/wire.js';

const AGENT = fileURLToPath(new URL('replica-agent.mjs', import.meta.url));
const QUIET = { NODE_OPTIONS: '' };

/** The processes that a process has started. */
export function childrenOf(pid: number | undefined): readonly number[] {
  const found = execFileSync('sh', ['-c', `ps -o pid= --ppid ${Number(pid)} || true`], { encoding: 'utf8' });
  return found.split(/\s+/).filter(Boolean).map(Number);
}

const until = async (isTrue: () => Promise<boolean> | boolean) => {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20));
};

/** The processes of a command: its workers, and the one that has their storage, if there is one. */
export function processesOf(running: RunningParley): {
  readonly workers: readonly number[];
  readonly storage?: number;
} {
  const children = childrenOf(running.process.pid);
  const isStorage = (pid: number) => /\0PARLEY_STORAGE_LEASES=/.test(environmentOf(pid));
  const storage = children.find(isStorage);
  const workers = children.filter((pid) => pid !== storage);
  return storage === undefined ? { workers } : { workers, storage };
}

/** The variables of a process at its start; "" if it has ended. */
function environmentOf(pid: number): string {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'utf8')}`;
  } catch {
    return '';
  }
}

/**
 * Several processes behind one port, as the command line runs them. `of`: other servers and commands can use the
 * database too, another server can use it later, or nothing is left of it.
 */
export function testWorkers(
  newDatabase: () => Promise<string>,
  { of = 'others' }: { readonly of?: 'others' | 'one server' | 'memory' } = {},
): void {
  /** The process that answered on a new connection. */
  const processOf = async (agent: { send(params: object, request?: object): Promise<Body> }): Promise<number> => {
    const { task } = await agent.send(sendParams('process'), { headers: { connection: 'close' } });
    const [artifact] = (task as { artifacts: { parts: { text: string }[] }[] }).artifacts;
    return Number(artifact?.parts[0]?.text);
  };

  const startWorkers = async (...flags: readonly string[]) => {
    const database = await newDatabase();
    const args = ['serve', AGENT, '--workers', '2', '--port', '0', '--database', database, ...flags];
    const running = new RunningParley(args, { env: QUIET });
    const url = await running.waitForStdout(/^URL: (\S+)$/m);
    const agent = (await MountedAgent.at(url)).over('HTTP+JSON');
    const seen = new Set<number>();
    await until(async () => seen.add(await processOf(agent)).size === 2);
    return { running, url, agent, database };
  };
  it('answers from all processes, starts another one for one that dies, and stops without a trace', {
    timeout: 90_000,
  }, async () => {
    const { running, agent, database } = await startWorkers();
    await using _ = running;
    const workers = () => processesOf(running).workers;
    const seen = new Set<number>();
    await until(async () => seen.add(await processOf(agent)).size === 2);
    expect([...seen].sort()).toEqual([...workers()].sort());

    const [victim = 0] = workers();
    process.kill(victim, 'SIGKILL');
    expect(await running.waitForStderr(/(worker \d+ ended with SIGKILL; another one starts in \d+ ms)/)).toContain(
      `${victim} `,
    );
    await until(() => workers().length === 2 && !workers().includes(victim));
    const again = new Set<number>();
    await until(async () => again.add(await processOf(agent)).size === 2);
    expect(again.has(victim)).toBe(false);

    if (of === 'others') {
      const args = ['cluster', 'status', '--database', database];
      const status = await parleyJson<{ replicas: { isAlive: boolean }[] }>(args);
      expect(status.replicas.length).toBeGreaterThanOrEqual(2);
    }

    const all = childrenOf(running.process.pid);
    expect((await running.stop()).code).toBe(0);
    for (const pid of all) expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
  });

  it.skipIf(of === 'memory')(
    'drains: requests are answered meanwhile, and a stream goes on in another server',
    {
      timeout: 90_000,
    },
    async () => {
      const { running, url, agent, database } = await startWorkers('--drain', '4s');
      await using _ = running;
      const frames = agent.stream(sendParams('slow'));
      const seen: Frame[] = [];
      for (let count = 0; count < 3; count++) seen.push((await frames.next()).value as Frame);
      const stopped = running.stop();
      await until(async () => (await fetch(`${url}/readyz`)).status === 503);
      expect(stateOf(await agent.send(sendParams('process')))).toBe('TASK_STATE_COMPLETED');
      for await (const frame of frames) seen.push(frame);
      expect((await stopped).code).toBe(0);

      const args = ['serve', AGENT, '--port', '0', '--database', database];
      await using next = new RunningParley(args, { env: QUIET });
      const other = (await MountedAgent.at(await next.waitForStdout(/^URL: (\S+)$/m))).over('HTTP+JSON');
      const { id } = agent.event(seen[0]).task as { readonly id: string };
      for await (const frame of other.subscribe(id, seen.at(-1)?.id)) seen.push(frame);
      expect(seen.map((frame) => Number(frame.id))).toEqual(seen.map((_frame, at) => at + 1));
      expect(stateOf(agent.event(seen.at(-1)))).toBe('TASK_STATE_COMPLETED');
    },
  );

  it('a signal before the first worker listens stops it, and starts no other one', { timeout: 90_000 }, async () => {
    using folder = new EmptyFolder();
    // The worker loads this module before it listens to messages. The module lets it go on after the message to stop.
    const module = join(folder.path, 'agent.mjs');
    const ends = join(folder.path, 'ends');
    writeFileSync(
      module,
      `import { appendFileSync } from 'node:fs';
process.on('exit', (code) => appendFileSync(${JSON.stringify(ends)}, \`\${code} \${process.connected}\\n\`));
const stop = new Promise((resolve) => process.once('message', resolve));
process.stderr.write('loading\\n');
await stop;
export const agent = (prompt) => prompt;
`,
    );
    const args = ['serve', module, '--workers', '2', '--port', '0', '--database', await newDatabase()];
    await using running = new RunningParley(args, { env: QUIET });
    await running.waitForStderr(/loading/);
    const { code, stderr } = await running.stop();
    expect({ code, loads: stderr.match(/loading/g) }).toEqual({ code: 0, loads: ['loading'] });
    // A killed worker writes nothing. Node.js ends a worker with a closed channel before its storage is closed.
    expect(readFileSync(ends, 'utf8')).toBe('0 true\n');
  });

  it('workers end when the first process is killed', { timeout: 90_000 }, async () => {
    const { running } = await startWorkers();
    const processes = childrenOf(running.process.pid);
    await running[Symbol.asyncDispose]();
    const isGone = (pid: number) => {
      try {
        return process.kill(pid, 0) && false;
      } catch {
        return true;
      }
    };
    await until(() => processes.every(isGone));
  });
}
