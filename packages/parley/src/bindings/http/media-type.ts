/** JSON of no particular kind. */
export const JSON_TYPE = 'application/json';
/** Server-sent events. */
export const EVENT_STREAM_TYPE = 'text/event-stream';

/** A content type without its parameters, in lower case; "" when there is none. */
export function essence(contentType: string | undefined): string {
  if (contentType === undefined) return '';
  if (contentType === JSON_TYPE) return JSON_TYPE;
  const end = contentType.indexOf(';');
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}

/** Whether an `Accept` header names the media type itself; wildcards do not count, nor does a quality of zero. */
export function names(accept: string | undefined, mediaType: string): boolean {
  if (accept === undefined) return false;
  if (accept === mediaType) return true;
  return accept.split(',').some((range) => essence(range) === mediaType && !/;\s*q=0(\.0*)?\s*(;|$)/i.test(range));
}
