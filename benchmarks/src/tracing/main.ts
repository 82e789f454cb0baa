import { parseArgs } from 'node:util';
import { measureTracing, type TracingCostOptions } from './tracing-cost.js';

const { values } = parseArgs({
  options: { short: { type: 'boolean' }, json: { type: 'boolean' }, only: { type: 'string' }, profile: { type: 'string' } },
});
const { only, profile } = values;
const size = values.short
  ? { generations: 1, rounds: 6, seconds: 0.25, warmUpSeconds: 1 }
  : { generations: 3, rounds: 12, seconds: 0.4, warmUpSeconds: 2 };
const workloads = only?.split(',') as TracingCostOptions['workloads'];
const costs = await measureTracing({ ...size, ...(workloads && { workloads }), profile });
if (values.json) process.stdout.write(JSON.stringify(costs));
else {
  for (const { workload, micros, off, dropped, recorded } of costs) {
    process.stdout.write(`${workload}\n`);
    for (const [subject, cost] of Object.entries(micros)) process.stdout.write(`  ${subject.padEnd(9)} ${cost.toFixed(2)} µs\n`);
    process.stdout.write(`  off ${off.toFixed(3)} × none, dropped ${dropped.toFixed(3)} × none`);
    process.stdout.write(workload === 'stream' ? '\n' : `, recorded ${recorded.toFixed(2)} × by hand, without none\n`);
  }
}
