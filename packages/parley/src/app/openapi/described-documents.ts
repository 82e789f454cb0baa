import { jsonOf, OPERATING } from './described-answers.js';
import type { Describe } from './server-document.js';

/** The documents about the server, for a document. */
export const describedDocuments: Describe = () => {
  const get = (operationId: string, summary: string) => ({ operationId, summary, tags: [OPERATING.name] });
  const document = { type: 'object', required: ['openapi', 'info', 'paths'] };
  const page = { description: 'The page', content: { 'text/html': { schema: { type: 'string' } } } };
  const described = jsonOf('The document', document);
  return {
    tags: [OPERATING],
    paths: {
      '/openapi.json': {
        get: { ...get('readOpenApi', 'Read this document'), responses: { 200: described } },
      },
      '/openapi-3.0.json': {
        get: { ...get('readOpenApi30', 'Read this document in OpenAPI 3.0'), responses: { 200: described } },
      },
      '/docs': { get: { ...get('readDocs', 'Read this document as a page'), responses: { 200: page } } },
    },
  };
};
