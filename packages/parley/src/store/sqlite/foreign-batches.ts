import { deserialize, serialize } from 'node:v8';
import type { SqliteWriter } from './sqlite-writer.js';
import type { ForeignBatches } from './worker-messages.js';
import type { Settled, WriteRequest } from './write-requests.js';

/** Serializes requests for the writer in another process. Faster than JSON, whose strings need escapes. */
export function packRequests(requests: readonly WriteRequest[]): Uint8Array {
  return serialize(requests);
}

/** Parses results from the writer in another process. */
export function unpackResults(bytes: Uint8Array): readonly Settled[] {
  return deserialize(bytes) as readonly Settled[];
}

/** Executes the batches of other processes in one transaction. Skips requests that were executed already. */
export function writeForeign(writer: SqliteWriter, { batches }: ForeignBatches, again: boolean): readonly Uint8Array[] {
  const requests = batches.map(([bytes]) => deserialize(bytes) as readonly WriteRequest[]);
  const isNew = (at: number) => !again && batches[at]?.[1] === false;
  const together = writer.write(
    requests.flatMap((batch, at) => (isNew(at) ? batch : [])),
    false,
  );
  let taken = 0;
  return requests.map((batch, at) => {
    if (!isNew(at)) return serialize(writer.write(batch, true));
    taken += batch.length;
    return serialize(together.slice(taken - batch.length, taken));
  });
}
