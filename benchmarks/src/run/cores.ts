import { spawnSync } from 'node:child_process';

/** The cores of a run: one for the subject, another for the load. */
export interface Cores {
  readonly subject: number;
  readonly load: number;
}

/** Two cores to pin processes to; `undefined` where the machine cannot do that. */
export function findCores(): Cores | undefined {
  const [load, subject] = allowedCores() ?? [];
  return load === undefined || subject === undefined ? undefined : { load, subject };
}

/** The cores that this process may use; `undefined` where processes cannot be pinned to them. */
export function allowedCores(): readonly number[] | undefined {
  const { status, stdout } = spawnSync('taskset', ['-cp', String(process.pid)], { encoding: 'utf8' });
  return status === 0 ? listed(stdout.slice(stdout.lastIndexOf(':') + 1)) : undefined;
}

/** The numbers in a list such as `0,2-5`. */
function listed(list: string): number[] {
  return list.split(',').flatMap((range) => {
    const [first = Number.NaN, last = first] = range.trim().split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

/** A command that runs another on one core. */
export function onCore(core: number | undefined, command: readonly string[]): readonly string[] {
  return core === undefined ? command : ['taskset', '-c', String(core), ...command];
}

/** Keeps this process on one core. */
export function stayOn(core: number): void {
  spawnSync('taskset', ['-a', '-cp', String(core), String(process.pid)]);
}
