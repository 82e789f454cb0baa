import type { Exchange, ExchangeRequest } from '../../bindings/http/exchange.js';
import type { OpenApiDocument } from '../../openapi/document.js';
import { toOpenApi30 } from '../../openapi/open-api-3-0.js';
import { keptByBase } from '../base-url.js';
import { readOnly } from '../middleware/method-filter.js';
import { docsPage } from './page/docs-page.js';
import { pageAnswer } from './page/page-answer.js';
import { type Describe, servedAt, serverDocument } from './server-document.js';

const JSON_HEADERS = Object.freeze({ 'content-type': 'application/json' });

/** The parts of the documents. */
interface OpenApiEndpointsOptions {
  readonly describers: readonly Describe[];
  /** The base url to tell a client, or "" while there is none. */
  readonly baseUrl: (request: ExchangeRequest) => string;
}

/** The description of a server, by path: in OpenAPI 3.1, in 3.0 for older tools, and as a page for people. */
export function openApiEndpoints({ describers, baseUrl }: OpenApiEndpointsOptions): ReadonlyMap<string, Exchange> {
  // Computed once, because only the base url differs. Clients behind some proxies can choose that.
  const document = once(() => serverDocument(describers));
  const document30 = once(() => toOpenApi30(document()));
  const documented = (make: () => OpenApiDocument): Exchange => {
    const made = keptByBase((base) => {
      return { status: 200, headers: JSON_HEADERS, body: JSON.stringify(servedAt(make(), base)) };
    });
    return readOnly(async (request) => made(baseUrl(request)));
  };
  const paged = keptByBase((base) => pageAnswer(docsPage(servedAt(document(), base))));
  return new Map([
    ['/openapi.json', documented(document)],
    ['/openapi-3.0.json', documented(document30)],
    ['/docs', readOnly(async (request) => paged(baseUrl(request)))],
  ]);
}

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
