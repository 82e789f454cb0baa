import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { WORKLOAD_NAMES, type WorkloadName } from '../workloads.js';

/** Resources of a process. */
export interface Usage {
  /** CPU time since its start, µs, all its threads together. */
  readonly cpuMicros: number;
  readonly rss: number;
  readonly heap: number;
}

/** Requests to a subject. */
export interface SubjectRequest {
  /** `now`: returns the usage; `settle`: the same after a garbage collection; `go`: lets an agent continue. */
  readonly kind: 'now' | 'settle' | 'go';
}

/** Messages of a subject: its address, its resources on demand, and results of its agent. */
export type SubjectMessage =
  | { readonly kind: 'ready'; readonly port: number }
  | { readonly kind: 'usage'; readonly usage: Usage }
  | { readonly kind: 'told'; readonly figures: Readonly<Record<string, number>> };

/** The workload that this process was started for. */
export function workloadArgument(): WorkloadName {
  const name = process.argv[2];
  const found = WORKLOAD_NAMES.find((known) => known === name);
  if (found === undefined) throw new TypeError(`${name} is no workload`);
  return found;
}

let gone = Promise.withResolvers<void>();

/** Deviations of a subject from the default. */
export interface SubjectHooks {
  /** Drops what an expired task no longer needs. */
  readonly settle?: () => Promise<void>;
  /** The usage of the server. Default: of this process. */
  readonly usage?: () => Usage;
}

/** Reports that the subject listens and, on request, its usage. Ends with its parent. */
export function ready(port: number, { settle, usage = ownUsage }: SubjectHooks = {}): void {
  process.once('disconnect', () => process.exit());
  process.on('message', async ({ kind }: SubjectRequest) => {
    if (kind === 'go') {
      gone.resolve();
      gone = Promise.withResolvers();
      return;
    }
    if (kind === 'settle') {
      await settle?.();
      await collectGarbage();
    }
    tell({ kind: 'usage', usage: usage() });
  });
  tell({ kind: 'ready', port });
}

function ownUsage(): Usage {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  return { cpuMicros: user + system, rss, heap: heapUsed };
}

/** Resolves at the next `go` of the benchmark. */
export function told(): Promise<void> {
  return gone.promise;
}

/** The port of a server that listens. */
export function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new TypeError('A TCP server has a port');
  return address.port;
}

/** Reports the figures of an agent to the benchmark. */
export function tellFigures(figures: Readonly<Record<string, number>>): void {
  tell({ kind: 'told', figures });
}

async function collectGarbage(): Promise<void> {
  if (globalThis.gc === undefined) throw new TypeError('A subject that settles needs --expose-gc');
  for (let time = 0; time < 3; time++) {
    globalThis.gc();
    await pause(50);
  }
}

function tell(message: SubjectMessage): void {
  if (process.send === undefined) throw new TypeError('A subject is started by the benchmark');
  process.send(message);
}
