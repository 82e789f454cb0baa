import { LoadRun } from '../load/load-run.js';
import { median } from '../report/summary.js';
import { ChildProgram } from '../run/child-program.js';
import { inDataFolder } from '../run/data-folder.js';
import { benchmarkToken } from '../subjects/benchmark-token.js';
import type { SubjectMessage } from '../subjects/subject-host.js';
import { type Measured, ProbedServer } from './probed-server.js';

const SLICES = 12;
const SLICE_SECONDS = 1;
const WARM_UP_SECONDS = 4;
const CONNECTIONS = 32;
/** It takes 20 s on a slow machine. */
const FIRST_TOKENS_MS = 120_000;
/** A setting of the server, with the header lines of its callers. */
type Setting = readonly [name: string, headers: readonly string[]];

const OPEN: Setting = ['open', []];
const IDEMPOTENT: Setting = ['idempotent', []];
const KEY = ['X-API-Key: benchmark-key'];

/**
 * Measures the rate with an API key, an owner and rates, as a share of that of an open server. Callers with a key have
 * idempotent sends too. The detail has the CPU time of an open server with these alone.
 */
export async function measureProtection(storage: Storage, core: number | undefined): Promise<Measured> {
  const settings: readonly Setting[] = [OPEN, IDEMPOTENT, ['key', KEY], ['limited', KEY]];
  const [open = 0, idempotent = 0, key = 0, limited = 0] = await costsOf(settings, { storage, core });
  const detail = `${open.toFixed(1)} µs of CPU; ${idempotent.toFixed(1)} with idempotent sends, ${key.toFixed(1)} with key and owner, ${limited.toFixed(1)} with rates`;
  return { value: open / limited, detail };
}

/** Measures the cost of a JWT that the server has seen: CPU time per task, against a server with idempotent sends. */
export async function measureToken(storage: Storage, core: number | undefined): Promise<Measured> {
  const headers = [`Authorization: Bearer ${benchmarkToken()}`];
  const [idempotent = 0, token = 0] = await costsOf([IDEMPOTENT, ['token', headers]], { storage, core });
  return { value: token / idempotent, detail: `${idempotent.toFixed(1)} → ${token.toFixed(1)} µs of CPU` };
}

/** Measures the cost of a JWT that the server sees for the first time: CPU time beyond the check of the library. */
export async function measureFirstToken(core: number | undefined): Promise<Measured> {
  await using child = new ChildProgram<SubjectMessage>({ program: 'subjects/first-tokens', core });
  const { figures } = await child.next('told', FIRST_TOKENS_MS);
  const { bare = Number.NaN, library = Number.NaN, whole = Number.NaN } = figures;
  const detail = `${bare.toFixed(1)} µs of CPU for the bare check, ${library.toFixed(1)} for the library with its rules, ${whole.toFixed(1)} for the whole`;
  return { value: whole - library, detail };
}

/** Measures the cost of push notifications that no task has: CPU time per task, against a server without push. */
export async function measureIdlePush(storage: Storage, core: number | undefined): Promise<Measured> {
  const [open = 0, push = 0] = await costsOf([OPEN, ['push', []]], { storage, core });
  return { value: push / open, detail: `${open.toFixed(1)} → ${push.toFixed(1)} µs of CPU` };
}

type Storage = 'memory' | 'sqlite';

/** Returns the median CPU time per task of alternating servers, in µs. */
function costsOf(
  settings: readonly Setting[],
  { storage, core }: { readonly storage: Storage; readonly core: number | undefined },
): Promise<readonly number[]> {
  return inDataFolder(storage, async (folder) => {
    await using programs = new AsyncDisposableStack();
    const loads: ServerLoad[] = [];
    for (const [setting, headers] of settings) {
      const args = [setting, storage, folder];
      const child = programs.use(
        new ChildProgram<SubjectMessage>({ program: 'subjects/protected-parley', args, core }),
      );
      const { port } = await child.next('ready');
      loads.push(new ServerLoad(new ProbedServer(storage, child, port), port, headers));
    }
    for (const load of loads) await load.slice(WARM_UP_SECONDS);
    const costs = loads.map((): number[] => []);
    // Each round begins with another server, so that none is always behind the same one.
    for (let slice = 0; slice < SLICES; slice++) {
      for (let turn = 0; turn < loads.length; turn++) {
        const at = (slice + turn) % loads.length;
        const cost = await loads[at]?.slice(SLICE_SECONDS);
        if (cost !== undefined) costs[at]?.push(cost);
      }
    }
    return costs.map((each) => median(each) ?? Number.NaN);
  });
}

/** The load of one server, in slices. */
class ServerLoad {
  readonly #server: ProbedServer;
  readonly #port: number;
  readonly #headers: readonly string[];

  constructor(server: ProbedServer, port: number, headers: readonly string[]) {
    this.#server = server;
    this.#port = port;
    this.#headers = headers;
  }

  /** Resolves to the CPU time per task in µs. @throws Error if an answer was wrong. */
  async slice(seconds: number): Promise<number> {
    const before = (await this.#server.usage()).cpuMicros;
    const run = new LoadRun({
      workload: 'task',
      port: this.#port,
      connections: CONNECTIONS,
      headers: this.#headers,
      warmUpSeconds: { min: 0, max: 0 },
      seconds,
    });
    const { answers, faults, examples } = await run.run({ begun: () => {}, ended: () => {} });
    if (faults > 0) throw new Error(examples[0]);
    return ((await this.#server.usage()).cpuMicros - before) / answers;
  }
}
