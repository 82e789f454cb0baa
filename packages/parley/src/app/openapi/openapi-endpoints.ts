import type { Exchange, ExchangeRequest } from '../../bindings/http/exchange.js';
import { toOpenApi30 } from '../../openapi/open-api-3-0.js';
import { readOnly } from '../health-endpoints.js';
import { type Describe, serverDocument } from './server-document.js';

/** Addresses differ by forwarded headers and local addresses only; more than this many is somebody playing. */
const MOST_BASES = 100;

const JSON_HEADERS = Object.freeze({ 'content-type': 'application/json' });

/** What documents are made of. */
export interface OpenApiEndpointsOptions {
  readonly describers: readonly Describe[];
  /** The base url to tell a client, or "" while there is none. */
  readonly baseUrl: (request: ExchangeRequest) => string;
}

/** The description of a server, by path: in OpenAPI 3.1, and in 3.0 for tools that know no later version. */
export function openApiEndpoints({ describers, baseUrl }: OpenApiEndpointsOptions): ReadonlyMap<string, Exchange> {
  const documented = (make: (base: string) => unknown): Exchange => {
    const made = remembered((base) => ({ status: 200, headers: JSON_HEADERS, body: JSON.stringify(make(base)) }));
    return readOnly(async (request) => made(baseUrl(request)));
  };
  return new Map([
    ['/openapi.json', documented((base) => serverDocument(describers, base))],
    ['/openapi-3.0.json', documented((base) => toOpenApi30(serverDocument(describers, base)))],
  ]);
}

function remembered<Value>(make: (base: string) => Value): (base: string) => Value {
  const made = new Map<string, Value>();
  return (base) => {
    const known = made.get(base);
    if (known !== undefined) return known;
    if (made.size >= MOST_BASES) made.clear();
    const value = make(base);
    made.set(base, value);
    return value;
  };
}
