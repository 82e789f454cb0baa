import type { Exchange, ExchangeRequest } from '../../bindings/http/exchange.js';
import { toOpenApi30 } from '../../openapi/open-api-3-0.js';
import { readOnly } from '../around/method-filter.js';
import { keptByBase } from '../kept-by-base.js';
import { docsPage } from './page/docs-page.js';
import { pageAnswer } from './page/page-answer.js';
import { type Describe, serverDocument } from './server-document.js';

const JSON_HEADERS = Object.freeze({ 'content-type': 'application/json' });

/** What documents are made of. */
export interface OpenApiEndpointsOptions {
  readonly describers: readonly Describe[];
  /** The base url to tell a client, or "" while there is none. */
  readonly baseUrl: (request: ExchangeRequest) => string;
}

/** The description of a server, by path: in OpenAPI 3.1, in 3.0 for tools that know no later version, and as a page for people. */
export function openApiEndpoints({ describers, baseUrl }: OpenApiEndpointsOptions): ReadonlyMap<string, Exchange> {
  const documented = (make: (base: string) => unknown): Exchange => {
    const made = keptByBase((base) => ({ status: 200, headers: JSON_HEADERS, body: JSON.stringify(make(base)) }));
    return readOnly(async (request) => made(baseUrl(request)));
  };
  const paged = keptByBase((base) => pageAnswer(docsPage(serverDocument(describers, base))));
  return new Map([
    ['/openapi.json', documented((base) => serverDocument(describers, base))],
    ['/openapi-3.0.json', documented((base) => toOpenApi30(serverDocument(describers, base)))],
    ['/docs', readOnly(async (request) => paged(baseUrl(request)))],
  ]);
}
