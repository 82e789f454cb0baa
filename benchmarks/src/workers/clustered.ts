// A server of the benchmark under node:cluster. Arguments: its program, the kind of answer, and the number of
// processes. Prints the port that they share.
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { SubjectMessage } from '../subjects/subject-host.js';

const [, , program, kind = '', count] = process.argv;
cluster.setupPrimary({ exec: fileURLToPath(new URL(`../subjects/${program}.js`, import.meta.url)), args: [kind] });
const ports = Array.from({ length: Number(count) }, () => {
  const worker = cluster.fork();
  worker.once('exit', () => process.exit(1));
  return new Promise<number>((resolve) => {
    worker.on('message', (message: SubjectMessage) => {
      if (message.kind === 'ready') resolve(message.port);
    });
  });
});
const [port] = await Promise.all(ports);
process.stdout.write(`${port}\n`);
