import { parseArgs } from 'node:util';
import { median } from '../cluster/statistics.js';
import { thisMachine } from '../report/machine.js';
import { inDataFolder } from '../run/data-folder.js';
import { type Placement, SHARED, splitMachine } from './placement.js';
import { type ProcessTimes, processTimes } from './process-times.js';
import { missingFor, type Row, withServed } from './served.js';

const ROWS: readonly Row[] = [
  { title: 'call, memory', kind: 'call', server: 'memory' },
  { title: 'call, SQLite', kind: 'call', server: 'sqlite' },
  { title: 'call, a2a-go', kind: 'call', server: 'go' },
  { title: 'call, @a2a-js/sdk', kind: 'call', server: 'peer' },
  { title: 'call, node:http', kind: 'call', server: 'ceiling' },
  { title: 'task, memory', kind: 'task', server: 'memory' },
  { title: 'task, SQLite', kind: 'task', server: 'sqlite' },
  { title: 'task, a2a-go', kind: 'task', server: 'go' },
  { title: 'task, @a2a-js/sdk', kind: 'task', server: 'peer' },
  { title: 'task, node:http', kind: 'task', server: 'ceiling' },
];

/** CPU time of one answer in µs, and answers in a second. */
interface Cost extends ProcessTimes {
  readonly rate: number;
}

const USAGE = `npm run bench:workers -- [options]
CPU time of answers of parley serve, by the number of workers. Beside it: a2a-go with as many threads, and @a2a-js/sdk
and fixed answers of node:http with as many processes of node:cluster.

  --rounds N     rounds over all rows (default 3)
  --seconds S    time measured in each (default 2)
  --rows TEXT    rows whose title has the text, such as task (default all)
  --workers A,B  numbers of workers; 0 is one process without workers (default 0,1,2)
  --machine      for 4 cores or more: half of them for the load, 1 to 16 workers on the others
`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '2' },
      rows: { type: 'string', default: '' },
      workers: { type: 'string' },
      machine: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
  const placement = values.machine ? splitMachine() : SHARED;
  const counts = values.workers?.split(',').map(Number) ?? placement.counts;
  const rows: Row[] = [];
  for (const row of ROWS.filter(({ title }) => title.includes(values.rows))) {
    const missing = await missingFor(row);
    if (missing === undefined) rows.push(row);
    else process.stdout.write(`${row.title}: left out, because ${missing}\n`);
  }
  const costs = new Map<string, Cost[]>();
  for (let round = 0; round < rounds; round++) {
    for (const row of rows) {
      // Interleaved, so that a slow minute of the machine affects all numbers of workers.
      for (const workers of countsOf(row, counts)) {
        const name = `${row.title} ${workers}`;
        costs.set(name, [...(costs.get(name) ?? []), await measured(row, { workers, seconds, placement })]);
      }
    }
  }
  const { cpu, cores, memoryGb, system, versions } = thisMachine();
  const lines = [
    `${cpu}, ${cores} cores, ${memoryGb} GB, ${system}, Node.js ${versions.node}. ${placement.title}`,
    `Medians of ${rounds} rounds of ${seconds} s. CPU time of all threads, in µs an answer.`,
    '',
    '| row | workers | answers/s | CPU | first process | workers | storage process |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows.flatMap((row) =>
      countsOf(row, counts).map((workers) => {
        const all = costs.get(`${row.title} ${workers}`) ?? [];
        const middle = (member: keyof Cost) => median(all.map((cost) => cost[member]));
        const cells = [middle('first'), middle('workers'), middle('storage')];
        const times = [median(all.map(sumOf)), ...cells].map((value) => value.toFixed(0));
        return `| ${row.title} | ${workers || 'none'} | ${middle('rate').toFixed(0)} | ${times.join(' | ')} |`;
      }),
    ),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** Only `parley serve` differs without workers from one worker. */
function countsOf({ server }: Row, counts: readonly number[]): readonly number[] {
  return server === 'memory' || server === 'sqlite' ? counts : counts.filter((count) => count > 0);
}

function sumOf({ first, workers, storage }: ProcessTimes): number {
  return first + workers + storage;
}

interface Measuring {
  /** 0 for a single process without the option. */
  readonly workers: number;
  readonly seconds: number;
  readonly placement: Placement;
}

function measured(row: Row, { workers, seconds, placement }: Measuring): Promise<Cost> {
  return inDataFolder(row.server, (folder) =>
    withServed({ ...row, workers, folder, cores: placement.cores }, async ({ port, pid }) => {
      let [before, after] = [processTimes(pid), processTimes(pid)];
      const { answers, seconds: took } = await placement.load(
        { workload: row.kind, port, seconds },
        {
          begun: () => {
            before = processTimes(pid);
          },
          ended: () => {
            after = processTimes(pid);
          },
        },
      );
      const each = (member: keyof ProcessTimes) => ((after[member] - before[member]) * 1e6) / answers;
      return { rate: answers / took, first: each('first'), workers: each('workers'), storage: each('storage') };
    }),
  );
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
