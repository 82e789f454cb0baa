// The agent of the probes, independent of the toolkits.
import { betweenEvents, chunkText, nextTurn } from '../workloads.js';
import { tellFigures, told } from './subject-host.js';

/** Publishes events of one task, each in the toolkit's own way; settles when the next one may come. */
export interface Publisher {
  /** `append` or not, always the same artifact. */
  chunk(text: string, append: boolean): Promise<void> | void;
  complete(): Promise<void> | void;
}

/** Does what the prompt says: `chunks N`, `push N`, `fan-out N`, `replace BYTES TOTAL`; anything else is echoed. */
export async function probed(prompt: string, publisher: Publisher): Promise<void> {
  const [what, first = '', second = ''] = prompt.split(' ');
  if (what === 'chunks') await chunks(Number(first), publisher);
  else if (what === 'push') await plainChunks(Number(first), publisher);
  else if (what === 'fan-out') await fanOut(Number(first), publisher);
  else if (what === 'replace') await replace(Number(first), { total: Number(second), publisher });
  else await publisher.chunk(prompt, false);
  await publisher.complete();
}

/** Reports the CPU time of the first and of the last tenth, in µs. */
async function chunks(count: number, publisher: Publisher): Promise<void> {
  const marks: number[] = [];
  for (let index = 0; index <= count; index++) {
    if (index === 0 || index === count / 10 || index === count - count / 10 || index === count) marks.push(cpuMicros());
    if (index === count) break;
    await nextTurn();
    await publisher.chunk(chunkText(index), index > 0);
  }
  const [start = 0, tenth = 0, nine = 0, end = 0] = marks;
  tellFigures({ first: tenth - start, last: end - nine });
}

async function plainChunks(count: number, publisher: Publisher): Promise<void> {
  for (let index = 0; index < count; index++) {
    await nextTurn();
    await publisher.chunk(chunkText(index), index > 0);
  }
}

async function fanOut(count: number, publisher: Publisher): Promise<void> {
  await told();
  for (let index = 0; index < count; index++) {
    await betweenEvents();
    await publisher.chunk(chunkText(index), index > 0);
  }
}

/** Reports the highest RSS during the work. */
async function replace(bytes: number, { total, publisher }: { total: number; publisher: Publisher }): Promise<void> {
  // One flat string for all events, so that the garbage of the agent is not measured.
  const text = Buffer.alloc(bytes, 'x').toString('latin1');
  let peak = 0;
  for (let made = 0; made < total; made += bytes) {
    await nextTurn();
    await publisher.chunk(text, false);
    peak = Math.max(peak, process.memoryUsage.rss());
  }
  tellFigures({ peak });
}

function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
