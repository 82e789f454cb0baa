import type { AddressInfo } from 'node:net';
import { WORKLOAD_NAMES, type WorkloadName } from '../workloads.js';

/** CPU time of a process since its start, µs, all its threads together. */
export interface Usage {
  readonly cpuMicros: number;
}

/** What a subject tells the benchmark: where it listens, and on demand what it has used. */
export type SubjectMessage =
  | { readonly kind: 'ready'; readonly port: number }
  | { readonly kind: 'usage'; readonly usage: Usage };

/** The workload that this process was started for. */
export function workloadArgument(): WorkloadName {
  const name = process.argv[2];
  const found = WORKLOAD_NAMES.find((known) => known === name);
  if (found === undefined) throw new TypeError(`${name} is no workload`);
  return found;
}

/** Reports that the subject listens, answers for its CPU time, and ends with its parent. */
export function ready(port: number): void {
  process.once('disconnect', () => process.exit());
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    tell({ kind: 'usage', usage: { cpuMicros: user + system } });
  });
  tell({ kind: 'ready', port });
}

/** The port of a server that listens. */
export function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new TypeError('A TCP server has a port');
  return address.port;
}

function tell(message: SubjectMessage): void {
  if (process.send === undefined) throw new TypeError('A subject is started by the benchmark');
  process.send(message);
}
