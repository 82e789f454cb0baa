import cluster from 'node:cluster';
import { once } from 'node:events';
import { REPLACES, SLOT, workUntilStop } from 'parley-a2a/workers';
import type { Closable, ListeningAgent } from './listening.js';

/** Paths that a worker answers on its own port. */
const OWN_PATHS = ['/metrics', '/readyz', '/healthz'];

/** Delay between two attempts to listen on a port, in ms. */
const RETRY_MS = 100;

/** True in a worker of `serve --workers`. */
export function isWorker(): boolean {
  return cluster.isWorker;
}

/** A host in a worker. */
interface WorkerHost {
  close(options: { readonly drainMs: number }): Promise<void>;
  fetch(request: Request): Promise<Response>;
}

/** Options of a host in a worker. */
export interface WorkerOptions {
  readonly agentsAt: readonly ListeningAgent[];
  readonly drainMs: number;
  /** The first port for metrics. */
  readonly metricsPort?: number;
}

/**
 * Reports to the first process that this worker listens. Resolves when this worker was stopped and has closed. SIGTERM
 * stops it too. Node.js ends it at once if the first process has ended.
 */
export async function workUntilStopped(host: WorkerHost, options: WorkerOptions): Promise<void> {
  const { agentsAt, drainMs, metricsPort } = options;
  const own = metricsPort === undefined ? undefined : await listenAlone(host, metricsPort);
  const signaled = new Promise<void>((resolve) => process.on('SIGTERM', () => resolve()));
  // A terminal sends SIGINT to all processes of a command; only the first one decides.
  process.on('SIGINT', () => {});
  await Promise.race([signaled, workUntilStop(agentsAt)]);
  await host.close({ drainMs });
  await own?.close();
}

/**
 * Answers probes and metrics of this worker alone, on a port of its own: the base and its number. The common
 * port answers them for any worker.
 */
async function listenAlone(host: WorkerHost, base: number): Promise<Closable> {
  const server = process.getBuiltinModule('node:http').createServer((request, response) => {
    const { pathname, href } = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (request.method !== 'GET' || !OWN_PATHS.includes(pathname)) {
      response.writeHead(404).end();
      return;
    }
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers))
      if (typeof value === 'string') headers.set(name, value);
    host
      .fetch(new Request(href, { headers }))
      .then(async (answer) => {
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
      })
      .catch(() => response.destroy());
  });
  const port = base + Number(process.env[SLOT]);
  // `exclusive`, because a worker would otherwise share the port with the others.
  const listen = () => server.listen({ port, host: '127.0.0.1', exclusive: true });
  if (process.env[REPLACES] === undefined) {
    listen();
    await once(server, 'listening');
  } else {
    // The replaced worker uses the port until it ends.
    server.on('error', () => void setTimeout(listen, RETRY_MS).unref());
    listen();
  }
  return {
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
