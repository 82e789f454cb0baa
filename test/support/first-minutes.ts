import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const page = readFileSync(fileURLToPath(new URL('../../docs/performance.md', import.meta.url)), 'utf8');
const [, section = ''] = /^## The first minutes\n(.*?)^## /ms.exec(page) ?? [];
const rows = Array.from(
  section.matchAll(/^\| ([^|]+?) *\| *([\d.]+) *\|/gm),
  ([, name, most]) => [name, Number(most)] as const,
);
const bounds = new Map(rows);

/**
 * The most that a row of the table "The first minutes" in docs/performance.md allows. So the page shows the figures
 * that the tests hold.
 * @throws Error if there is no such row.
 */
export function firstMinutesBound(row: string): number {
  const bound = bounds.get(row);
  if (bound === undefined)
    throw new Error(`docs/performance.md has no row "${row}" among ${[...bounds.keys()].join('; ')}`);
  return bound;
}
