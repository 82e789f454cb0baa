import { parseArgs } from 'node:util';
import { measureTracing } from './tracing-cost.js';

const { values } = parseArgs({
  options: { short: { type: 'boolean' }, json: { type: 'boolean' }, profile: { type: 'string' } },
});
const { short, json, profile } = values;
const workloads = short ? (['call'] as const) : (['call', 'task', 'stream'] as const);
const costs = await measureTracing({ workloads, generations: short ? 1 : 3, rounds: short ? 7 : 30, profile });
if (json) process.stdout.write(JSON.stringify(costs));
else {
  for (const { workload, micros, off, dropped, droppedByHand, recorded } of costs) {
    process.stdout.write(`${workload}\n`);
    for (const [subject, cost] of Object.entries(micros))
      process.stdout.write(`  ${subject.padEnd(13)} ${cost.toFixed(1)} µs\n`);
    process.stdout.write(`  off ${off.toFixed(3)} × none, dropped ${dropped.toFixed(3)} × none, `);
    process.stdout.write(`dropped by hand ${droppedByHand.toFixed(3)} × none, `);
    process.stdout.write(`recorded ${recorded.toFixed(2)} × by hand, without none\n`);
  }
}
