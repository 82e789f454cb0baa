import { count, eitherOf, flag, func, optionObject, pattern } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import type { AnswerHeaders } from './answer-headers.js';

/** The origins whose pages may call: any (`*`), the listed ones, or those for which the function gives true. */
export type CorsOrigins = '*' | readonly string[] | ((origin: string) => boolean | Promise<boolean>);

/** The rules for pages of other origins that call from a browser. */
export interface CorsOptions {
  readonly origins: CorsOrigins;
  /** Request headers beyond those of the protocol that a page may send, such as that of an API key. */
  readonly allowedHeaders?: readonly string[];
  /** Answer headers beyond those of the protocol that a page may read. */
  readonly exposedHeaders?: readonly string[];
  /** True if a browser may send cookies; default false, and never for `*`. */
  readonly credentials?: boolean;
  /** The time for which a browser caches the answer to a preflight request; default 7200, the most it accepts. */
  readonly maxAgeSeconds?: number;
}

/** Answer headers of the protocol that a page may read. */
const EXPOSED =
  'A2A-Version, A2A-Extensions, X-A2A-Extensions, Content-Disposition, Content-Range, ETag, Location, RateLimit, RateLimit-Policy, Repr-Digest, Retry-After, Upload-Offset, WWW-Authenticate, X-A2A-Protocol, X-Request-ID, X-Response-Time';

const headerNames = Type.Array(pattern(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be the name of a header'));
const originText = Type.Refine(
  Type.String(),
  isOrigin,
  () => 'must be an origin such as "https://example.com", without a path',
);
const origins = eitherOf(
  [Type.Literal('*'), Type.Array(originText), func],
  'must be "*", a list of origins such as ["https://example.com"], or a function',
);

/** The schema of `cors` of a server. */
export const corsSchema = eitherOf(
  [
    origins,
    Type.Refine(
      optionObject({
        origins,
        allowedHeaders: Type.Optional(headerNames),
        exposedHeaders: Type.Optional(headerNames),
        credentials: Type.Optional(flag),
        maxAgeSeconds: Type.Optional(count),
      }),
      ({ origins, credentials }) => origins !== '*' || credentials !== true,
      () => 'no cookies for every origin',
    ),
  ],
  'must be "*", a list of origins such as ["https://example.com"], a function, or an object with origins',
);

function isOrigin(text: string): boolean {
  return text === 'null' || (!text.includes('*') && URL.parse(text)?.origin === text);
}

/** The rule for the origins of pages. No origin may call without options. */
export function allowedOrigins(
  options: CorsOrigins | CorsOptions | undefined,
): (origin: string) => boolean | Promise<boolean> {
  if (options === undefined) return () => false;
  const { origins } = corsRule(options);
  if (origins === '*') return () => true;
  return typeof origins === 'function' ? origins : (origin) => origins.includes(origin);
}

/** The options as an object. */
export function corsRule(options: CorsOrigins | CorsOptions): CorsOptions {
  return typeof options === 'object' && 'origins' in options ? options : { origins: options };
}

/** The answer headers that a page may read. */
export function exposedNames(further: readonly string[]): string {
  return [EXPOSED, ...further].join(', ');
}

/** The headers of every answer, if they are the same for all origins. Caches can keep one answer for all of them. */
export function sharedCorsHeaders(options: CorsOrigins | CorsOptions): AnswerHeaders | undefined {
  const { origins, exposedHeaders = [] } = corsRule(options);
  if (origins !== '*') return undefined;
  return { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposedNames(exposedHeaders) };
}
