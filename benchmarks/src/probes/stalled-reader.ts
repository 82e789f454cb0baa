import { type Measured, type ProbedServer, prompted } from './probed-server.js';

const MB = 1024 * 1024;

/** Measures the memory of a server while an agent works and its reader has stopped. */
export async function measureStalledReader(
  server: ProbedServer,
  { piece, total }: { piece: number; total: number },
): Promise<Measured> {
  await server.finish('hello');
  const idle = (await server.usage()).rss;
  const told = server.told();
  const stream = await server.call('SendStreamingMessage', prompted(`replace ${piece} ${total}`));
  await new Promise<void>((resolve) => stream.once('readable', resolve));
  const { peak = Number.NaN } = await told;
  stream.destroy();
  return { value: (peak - idle) / MB, detail: `${(idle / MB).toFixed(0)} → ${(peak / MB).toFixed(0)} MB` };
}
