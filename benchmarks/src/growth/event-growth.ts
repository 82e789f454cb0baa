import { measureChunks } from '../probes/chunks.js';
import { inDataFolder } from '../run/data-folder.js';
import { type StorageName, withServer } from './grown-server.js';

/** CPU time per event in the last tenth of a task with `events` events, compared with its first tenth. */
export interface EventsRow {
  readonly events: number;
  readonly ratio: number;
  readonly detail: string;
}

/** Measures tasks with 10 times more events each, up to `most`. */
export function eventRows(storage: StorageName, most: number): Promise<readonly EventsRow[]> {
  return inDataFolder(storage, (folder) =>
    withServer({ storage, folder }, async (server) => {
      const rows: EventsRow[] = [];
      for (let events = Math.min(1_000, most); events <= most; events *= 10) {
        const { value, detail } = await measureChunks(server, events);
        rows.push({ events, ratio: value, detail });
      }
      return rows;
    }),
  );
}
