import { resolve } from 'node:path';

/** The arguments of Node.js for a process whose profile goes into a folder. */
export function profileArgs(folder: string | undefined): readonly string[] {
  if (folder === undefined) return [];
  return ['--cpu-prof', `--cpu-prof-dir=${resolve(folder)}`, '--import', new URL('unbundled.js', import.meta.url).href];
}
