import type { TaskHead, WriteTables } from './write-tables.js';

/** Writes the whole task out as it is after its last record. */
export function putSnapshot(
  tables: WriteTables,
  { pk, seq, status, metadata }: TaskHead,
  [history, artifacts]: readonly [history: string | null, artifacts: string | null],
): void {
  tables.run(
    'INSERT OR REPLACE INTO snapshot VALUES (?, ?, ?, ?, ?, ?)',
    pk,
    seq,
    status,
    metadata,
    history,
    artifacts,
  );
}
