// A server in another language: starts its command as a child, and reports the resources of that child.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { storedTask } from '../stored-tasks.js';
import { CHUNKS, WORKLOADS } from '../workloads.js';
import { ready, type Usage, workloadArgument } from './subject-host.js';

/** Linux counts CPU time in hundredths of a second. */
const MICROS_PER_TICK = 10_000;

const [, , , , , ...command] = process.argv;
const { kind, tasks } = WORKLOADS[workloadArgument()];
const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));
const child = spawn(command[0] ?? '', [...command.slice(1), kind, String(CHUNKS), storedTasks()], {
  // The child ends when its stdin does, also if this process is killed.
  stdio: ['pipe', 'pipe', 'inherit'],
  // One core, like the other servers. The one in Rust has one thread.
  env: { ...process.env, GOMAXPROCS: '1' },
});
child.once('exit', (code, signal) => {
  process.stderr.write(`the server ended with ${code ?? signal}\n`);
  process.exit(1);
});
const [port] = (await once(createInterface(child.stdout), 'line')) as [string];
rmSync(folder, { recursive: true });
ready(Number(port), { usage: usageOfChild });

/** A file with a task on each line; "" if the workload has none. */
function storedTasks(): string {
  if (tasks === 0) return '';
  const path = join(folder, 'tasks.jsonl');
  writeFileSync(path, Array.from({ length: tasks }, (_, index) => `${JSON.stringify(storedTask(index))}\n`).join(''));
  return path;
}

function usageOfChild(): Usage {
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
  // The name of the program comes before these and may hold spaces.
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  const [, rss] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
  return { cpuMicros: (user + system) * MICROS_PER_TICK, rss: Number(rss) * 1024, heap: 0 };
}
