import { InvalidParamsError } from '../errors/standard-errors.js';
import type { ListTasksRequest } from '../model/task-requests.js';

/** The place of the next page: after the task with this status time and id. */
export interface PageCursor {
  readonly time: number;
  readonly id: string;
}

/** The token of the next page. It is bound to the filters of the request (Spec §3.1.4). */
export function encodePageToken(cursor: PageCursor, request: ListTasksRequest): string {
  return btoa(JSON.stringify([cursor.time, cursor.id, filtersOf(request)])).replaceAll('=', '');
}

/** @throws InvalidParamsError if the server did not make the token, or made it for other filters (Spec §3.1.4). */
export function decodePageToken(token: string, request: ListTasksRequest): PageCursor {
  const fields = parse(token);
  if (fields === undefined) throw invalid('is not a page token of this agent');
  if (fields.filters !== filtersOf(request)) throw invalid('belongs to a list with other filters');
  return { time: fields.time, id: fields.id };
}

function parse(token: string): { time: number; id: string; filters: number } | undefined {
  try {
    const fields: unknown = JSON.parse(atob(token));
    if (!Array.isArray(fields) || fields.length !== 3) return undefined;
    const [time, id, filters] = fields as unknown[];
    if (typeof time !== 'number' || typeof id !== 'string' || typeof filters !== 'number') return undefined;
    return Number.isFinite(time) ? { time, id, filters } : undefined;
  } catch {
    return undefined;
  }
}

/** A 32-bit FNV-1a hash. It tells lists apart, and protects against nothing. */
function filtersOf({ tenant, contextId, status, statusTimestampAfter }: ListTasksRequest): number {
  const text = JSON.stringify([tenant || null, contextId || null, status ?? null, statusTimestampAfter ?? null]);
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

function invalid(description: string): InvalidParamsError {
  return new InvalidParamsError([{ field: 'pageToken', description }]);
}
