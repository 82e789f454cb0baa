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
  /** `now`: its usage; `settle`: the same after everything that may go has gone; `go`: that an agent goes on. */
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

/** Reports that the subject listens, tells its usage on demand, and ends with its parent. */
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

/** Settles when the benchmark says so. */
export function told(): Promise<void> {
  return gone.promise;
}

/** The port of a server that listens. */
export function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new TypeError('A TCP server has a port');
  return address.port;
}

/** Tells the benchmark what an agent has found out. */
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
