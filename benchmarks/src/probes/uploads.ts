import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { median } from '../report/summary.js';
import { ChildProgram } from '../run/child-program.js';
import { inDataFolder } from '../run/data-folder.js';
import type { SubjectMessage } from '../subjects/subject-host.js';
import { type Measured, ProbedServer } from './probed-server.js';
import { textOf } from './subject-client.js';

const MIB = 1_048_576;
const CHUNK = Buffer.alloc(MIB, 'parley');
const FILE_MIB = 64;
const ROUNDS = 7;

/** CPU time and time of an upload. */
interface Cost {
  readonly cpu: number;
  readonly ms: number;
}

/** Measures uploads against a bare stream to disk, by the median of pairs: MiB per second of CPU time. */
export function measureUploads(core: number | undefined): Promise<Measured> {
  return inDataFolder('sqlite', async (folder) => {
    await using programs = new AsyncDisposableStack();
    const started = async (which: 'bare' | 'ours') => {
      const args = [which, folder];
      const child = programs.use(new ChildProgram<SubjectMessage>({ program: 'subjects/uploads', args, core }));
      const { port } = await child.next('ready');
      return new ProbedServer('sqlite', child, port);
    };
    const [bare, ours] = [await started('bare'), await started('ours')];
    for (const server of [bare, ours]) await upload(server);
    const pairs: { readonly bare: Cost; readonly ours: Cost }[] = [];
    for (let round = 0; round < ROUNDS; round++) pairs.push({ bare: await upload(bare), ours: await upload(ours) });
    const each = (which: 'bare' | 'ours', member: keyof Cost) =>
      (median(pairs.map((pair) => pair[which][member])) ?? Number.NaN) / FILE_MIB;
    const ratio = (member: keyof Cost) =>
      median(pairs.map((pair) => pair.bare[member] / pair.ours[member])) ?? Number.NaN;
    return {
      value: ratio('cpu'),
      detail: `${each('bare', 'cpu').toFixed(2)} ms of CPU a MiB, ours ${each('ours', 'cpu').toFixed(2)}; ${ratio('ms').toFixed(2)} of its speed`,
    };
  });
}

async function upload(server: ProbedServer): Promise<Cost> {
  const before = await server.usage();
  const begun = performance.now();
  const headers = { 'content-length': FILE_MIB * MIB };
  const call = request({ host: '127.0.0.1', port: server.port, path: '/a2a/files', method: 'POST', headers });
  const answered = once(call, 'response') as Promise<[IncomingMessage]>;
  for (let sent = 0; sent < FILE_MIB; sent++) if (!call.write(CHUNK)) await once(call, 'drain');
  call.end();
  const [answer] = await answered;
  const text = await textOf(answer);
  if (answer.statusCode === undefined || answer.statusCode >= 300) throw new Error(`${answer.statusCode} ${text}`);
  const ms = performance.now() - begun;
  return { cpu: ((await server.usage()).cpuMicros - before.cpuMicros) / 1000, ms };
}
