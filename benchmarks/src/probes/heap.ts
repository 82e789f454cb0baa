import type { Measured, ProbedServer } from './probed-server.js';

const WARM_UP_TASKS = 2000;
const AT_ONCE = 16;

/** Measures the heap of a finished task whose event log has expired, after garbage collections. */
export async function measureHeap(server: ProbedServer, tasks: number): Promise<Measured> {
  await runTasks(server, WARM_UP_TASKS);
  const before = (await server.usage('settle')).heap;
  await runTasks(server, tasks);
  const after = (await server.usage('settle')).heap;
  const mb = (bytes: number) => (bytes / 2 ** 20).toFixed(1);
  return { value: (after - before) / tasks, detail: `${mb(before)} → ${mb(after)} MB` };
}

async function runTasks(server: ProbedServer, tasks: number): Promise<void> {
  let left = tasks;
  const worker = async () => {
    while (left-- > 0) await server.finish('Hello, what is the weather like in Berlin tomorrow?');
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
