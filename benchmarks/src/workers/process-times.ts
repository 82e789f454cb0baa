import { readFileSync } from 'node:fs';

/** Ticks of the kernel's clock for processes in a second, on all Linux systems of today. */
const TICKS = 100;

/** CPU time of the processes of a command, in seconds. */
export interface ProcessTimes {
  readonly first: number;
  readonly workers: number;
  /** Of the process that has the storage; 0 if there is none. */
  readonly storage: number;
}

/** The CPU time that a command and its children have taken, all threads of them. */
export function processTimes(pid: number): ProcessTimes {
  const children = stateOf(pid, `task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  const times = { first: secondsOf(pid), workers: 0, storage: 0 };
  for (const child of children) {
    const isStorage = stateOf(child, 'environ').includes('PARLEY_STORAGE_LEASES=');
    times[isStorage ? 'storage' : 'workers'] += secondsOf(child);
  }
  return times;
}

function secondsOf(pid: number): number {
  const text = stateOf(pid, 'stat');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS || 0;
}

/** A file about a process; "" if it has ended. */
function stateOf(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
