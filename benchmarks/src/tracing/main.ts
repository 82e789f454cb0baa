import { measureTracing } from './tracing-cost.js';

const { ratios, ...costs } = await measureTracing({ rounds: 120, callsPerRound: 150 });
const lines = Object.entries(costs).map(([subject, micros]) => `${subject.padEnd(9)} ${micros.toFixed(1)} µs`);
process.stdout.write(`${lines.join('\n')}\n\n`);
process.stdout.write(`off       ${ratios.off.toFixed(3)} × none\n`);
process.stdout.write(`dropped   ${ratios.dropped.toFixed(3)} × none\n`);
process.stdout.write(`recorded  ${ratios.recorded.toFixed(2)} × bare, without none\n`);
