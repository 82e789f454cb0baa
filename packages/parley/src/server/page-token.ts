import { InvalidParamsError } from '../errors/standard-errors.js';
import type { ListTasksRequest } from '../model/task-requests.js';
import type { Scope } from '../store/task-key.js';

/** The place of the next page: after the task with this status time and id. */
interface PageCursor {
  readonly time: number;
  readonly id: string;
}

/** A list of tasks: its scope and its filters. */
interface PagedList {
  readonly scope: Scope;
  readonly request: ListTasksRequest;
}

/** Returns the token of the next page. It is bound to the scope and to the filters of the list (Spec §3.1.4). */
export function encodePageToken({ time, id }: PageCursor, list: PagedList): string {
  return btoa(JSON.stringify([time, encodeURIComponent(id), fingerprintOf(list)])).replaceAll('=', '');
}

/**
 * Returns the place in a token. All invalid tokens have the same error, which does not reveal whether another caller
 * got the token.
 * @throws InvalidParamsError if the server did not make the token for this list (Spec §3.1.4).
 */
export function decodePageToken(token: string, list: PagedList): PageCursor {
  try {
    const [time, id] = JSON.parse(atob(token)) as [number, string];
    const cursor = { time, id: decodeURIComponent(id) };
    if (Number.isSafeInteger(time) && encodePageToken(cursor, list) === token) return cursor;
  } catch {
    // The text is not base64, not JSON, or not percent-encoded.
  }
  const description = 'is not a page token of this list. The filters must be those of the first page';
  throw new InvalidParamsError([{ field: 'pageToken', description }]);
}

/**
 * A 32-bit FNV-1a hash that distinguishes lists. It is no protection: a forged token is only another place in the
 * caller's own list.
 */
function fingerprintOf({ scope: { agent, tenant, owner }, request }: PagedList): number {
  const { contextId, status, statusTimestampAfter } = request;
  const scope = [agent, tenant, owner];
  const text = JSON.stringify([scope, contextId || null, status ?? null, statusTimestampAfter ?? null]);
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
