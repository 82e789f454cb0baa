import { type Measured, type ProbedServer, prompted } from './probed-server.js';
import { textOf } from './subject-client.js';

const WARM_UP = { times: 5, chunks: 500 };
const TIMES = 5;

/** Measures the cost of chunks of a growing artifact, with one stream that shows all of them. */
export async function measureChunks(server: ProbedServer, chunks: number): Promise<Measured> {
  for (let time = 0; time < WARM_UP.times; time++) await run(server, WARM_UP.chunks);
  const tenths: { readonly first: number; readonly last: number }[] = [];
  for (let time = 0; time < TIMES; time++) tenths.push(await run(server, chunks));
  // The minimum, because other work of the machine can only increase a time.
  const perChunk = (which: 'first' | 'last') => Math.min(...tenths.map((tenth) => tenth[which])) / (chunks / 10);
  const [first, last] = [perChunk('first'), perChunk('last')];
  return { value: last / first, detail: `${first.toFixed(1)} → ${last.toFixed(1)} µs per chunk` };
}

async function run(server: ProbedServer, chunks: number): Promise<{ first: number; last: number }> {
  const told = server.told();
  const [figures, body] = await Promise.all([
    told,
    server.call('SendStreamingMessage', prompted(`chunks ${chunks}`)).then(textOf),
  ]);
  const shown = body.match(/"artifactUpdate":/g)?.length;
  if (shown !== chunks) throw new Error(`${shown} of ${chunks} chunks were shown`);
  const { first = Number.NaN, last = Number.NaN } = figures;
  return { first, last };
}
