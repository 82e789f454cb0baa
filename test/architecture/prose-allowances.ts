/** Violations of plain writing that a room may still have. It only shrinks; rooms that are absent have none. */
export const PROSE_ALLOWANCES: Readonly<Record<string, number>> = {
  'packages/parley/src/server': 10,
  'packages/parley/src/store': 60,
};

/** The room whose allowance a file uses: a room of a package, a folder of tests, or a document. */
export function roomOfProse(path: string): string {
  const parts = path.split('/');
  const isPackage = parts[0] === 'packages' && parts.length > 4;
  return parts.slice(0, isPackage ? 4 : Math.min(2, parts.length)).join('/');
}
