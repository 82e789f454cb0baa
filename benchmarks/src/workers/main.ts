import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { median } from '../cluster/statistics.js';
import { LoadRun } from '../load/load-run.js';
import { thisMachine } from '../report/machine.js';
import { inDataFolder } from '../run/data-folder.js';
import { type ProcessTimes, processTimes } from './process-times.js';

const PARLEY = fileURLToPath(new URL('../../../packages/cli/bin/parley.js', import.meta.url));
const AGENT = fileURLToPath(new URL('served-agent.js', import.meta.url));
const CONNECTIONS = 32;
const WARM_UP = { min: 1, max: 6 };

/** A row of the table: an agent and its database. */
interface Row {
  readonly title: string;
  readonly kind: 'call' | 'task';
  readonly storage: 'memory' | 'sqlite';
}

const ROWS: readonly Row[] = [
  { title: 'call, memory', kind: 'call', storage: 'memory' },
  { title: 'call, SQLite', kind: 'call', storage: 'sqlite' },
  { title: 'task, memory', kind: 'task', storage: 'memory' },
  { title: 'task, SQLite', kind: 'task', storage: 'sqlite' },
];

/** CPU time of one answer in µs, and answers in a second. */
interface Cost extends ProcessTimes {
  readonly rate: number;
}

const USAGE = `npm run bench:workers -- [options]
CPU time of answers of parley serve, by the number of workers.

  --rounds N     rounds over all rows (default 3)
  --seconds S    time measured in each (default 2)
  --rows TEXT    rows whose title has the text, such as task (default all)
  --workers A,B  numbers of workers; 0 is one process without workers (default 0,1,2)
`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '2' },
      rows: { type: 'string', default: '' },
      workers: { type: 'string', default: '0,1,2' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
  const rows = ROWS.filter(({ title }) => title.includes(values.rows));
  const counts = values.workers.split(',').map(Number);
  const costs = new Map<string, Cost[]>();
  for (let round = 0; round < rounds; round++) {
    for (const row of rows) {
      // Interleaved: a slow minute of the machine meets all numbers of workers.
      for (const workers of counts) {
        const name = `${row.title} ${workers}`;
        costs.set(name, [...(costs.get(name) ?? []), await measured(row, workers, seconds)]);
      }
    }
  }
  const { cpu, cores, memoryGb, system, versions } = thisMachine();
  const lines = [
    `${cpu}, ${cores} cores, ${memoryGb} GB, ${system}, Node.js ${versions.node}. The load shares the cores.`,
    `Medians of ${rounds} rounds of ${seconds} s, ${CONNECTIONS} connections. CPU time of all threads, in µs an answer.`,
    '',
    '| row | workers | answers/s | CPU | first process | workers | storage process |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows.flatMap(({ title }) =>
      counts.map((workers) => {
        const all = costs.get(`${title} ${workers}`) ?? [];
        const middle = (member: keyof Cost) => median(all.map((cost) => cost[member]));
        const cells = [middle('first'), middle('workers'), middle('storage')];
        const sum = median(all.map(({ first, workers: own, storage }) => first + own + storage));
        const times = [sum, ...cells].map((value) => value.toFixed(0));
        return `| ${title} | ${workers || 'none'} | ${middle('rate').toFixed(0)} | ${times.join(' | ')} |`;
      }),
    ),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** `workers`: 0 for a single process without the option. */
function measured({ kind, storage }: Row, workers: number, seconds: number): Promise<Cost> {
  return inDataFolder(storage, async (folder) => {
    const database = storage === 'memory' ? 'memory:' : `sqlite:${join(folder, 'parley.db')}`;
    const flags = workers === 0 ? [] : ['--workers', String(workers)];
    const args = [PARLEY, 'serve', AGENT, '--quiet', '--port', '0', '--database', database, ...flags];
    const env = { ...process.env, BENCH_KIND: kind };
    const server = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const port = await portOf(server.stdout);
      const pid = Number(server.pid);
      let [before, after] = [processTimes(pid), processTimes(pid)];
      const order = { workload: kind, port, connections: CONNECTIONS, warmUpSeconds: WARM_UP, seconds } as const;
      const result = await new LoadRun(order).run({
        begun: () => {
          before = processTimes(pid);
        },
        ended: () => {
          after = processTimes(pid);
        },
      });
      if (result.faults > 0) throw new Error(`Wrong answers: ${result.examples.join('; ')}`);
      const each = (member: keyof ProcessTimes) => ((after[member] - before[member]) * 1e6) / result.answers;
      const rate = result.answers / result.seconds;
      return { rate, first: each('first'), workers: each('workers'), storage: each('storage') };
    } finally {
      server.kill('SIGTERM');
      await once(server, 'exit');
    }
  });
}

/** The port that the server prints. It is read to its end, so that the server can write. */
function portOf(output: NodeJS.ReadableStream): Promise<number> {
  let text = '';
  return new Promise((resolve, reject) => {
    output.on('data', (chunk) => {
      text += String(chunk);
      const [, port] = /^URL: \S+:(\d+)$/m.exec(text) ?? [];
      if (port !== undefined) resolve(Number(port));
    });
    output.on('end', () => reject(new Error(`The server has ended: ${text}`)));
  });
}

await main();
