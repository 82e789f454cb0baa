import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import type { OpenApiDocument } from '../../openapi/document.js';
import { toOpenApi30 } from '../../openapi/open-api-3-0.js';
import { sha256 } from '../../runtime/sha256.js';
import { readOnly } from '../around/method-filter.js';
import { keptByBase } from '../kept-by-base.js';
import { docsPage } from './page/docs-page.js';
import { STYLE } from './page/style.js';
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
  const paged = keptByBase((base) => pageAnswer(serverDocument(describers, base)));
  return new Map([
    ['/openapi.json', documented((base) => serverDocument(describers, base))],
    ['/openapi-3.0.json', documented((base) => toOpenApi30(serverDocument(describers, base)))],
    ['/docs', readOnly(async (request) => paged(baseUrl(request)))],
  ]);
}

/** The page loads nothing, runs nothing and is shown in no frame; its style is allowed by what it is. */
async function pageAnswer(document: OpenApiDocument): Promise<ExchangeResponse> {
  const style = `'sha256-${btoa(String.fromCharCode(...(await sha256(STYLE))))}'`;
  const policy = `default-src 'none'; style-src ${style}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  };
  return { status: 200, headers, body: docsPage(document) };
}
