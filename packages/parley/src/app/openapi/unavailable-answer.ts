import { errorBodySchema } from '../../bindings/http/error-schema.js';
import type { Components } from '../../openapi/components.js';
import type { Answer } from '../../openapi/document.js';

/** The answer of a server that cannot reach its agents now, for a document. */
export function unavailableAnswer(components: Components): Answer {
  return {
    description: 'The agents cannot be reached now',
    headers: { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'string' } } },
    content: { 'application/json': { schema: errorBodySchema(components) } },
  };
}
