import { ContentTypeNotSupportedError } from '../../errors/spec-errors.js';
import type { ExchangeRequest } from './exchange.js';

/** The body of a request has a content coding that its endpoint does not take (RFC 9110 §15.5.16). */
export class ContentCodingError extends ContentTypeNotSupportedError {
  /** The codings that the endpoint takes, for `Accept-Encoding` of the answer (RFC 9110 §12.5.3). */
  readonly accepted: string;

  constructor(message: string, accepted: string) {
    super(message);
    this.accepted = accepted;
  }
}

/** The codings of the body of a request, in lower case and without `identity`: "" for a body as it is. */
export function contentCoding(request: Pick<ExchangeRequest, 'header'>): string {
  const header = request.header('content-encoding');
  if (header === undefined) return '';
  const codings = header.split(',').map((coding) => coding.trim().toLowerCase());
  return codings
    .filter((coding) => coding !== '' && coding !== 'identity')
    .map((coding) => (coding === 'x-gzip' ? 'gzip' : coding))
    .join(', ');
}

/** The refusal of a body that has a coding; `undefined` for a body as it is. */
export function refusedCoding(request: Pick<ExchangeRequest, 'header'>): ContentCodingError | undefined {
  if (request.header('content-encoding') === undefined || contentCoding(request) === '') return undefined;
  return new ContentCodingError('the request body must not be compressed', 'identity');
}

/** The codings that an answer names, if the body of its request had another one. */
export function codingHeaders(error: unknown): Readonly<Record<string, string>> {
  return error instanceof ContentCodingError ? { 'accept-encoding': error.accepted } : {};
}
