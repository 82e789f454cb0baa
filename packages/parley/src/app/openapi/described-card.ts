import type { Components } from '../../openapi/components.js';
import type { DescribedOperation, Schema } from '../../openapi/document.js';
import { unavailableAnswer } from './described-answers.js';

/** The endpoint of a card, for its description. */
interface DescribedCardEndpoint {
  readonly id: string;
  readonly tag: string;
  /** The form of the card in each version. With several versions, the header `A2A-Version` chooses. */
  readonly forms: readonly Schema[];
  readonly components: Components;
}

const VERSION = {
  name: 'A2A-Version',
  in: 'header',
  description: 'For 1.0 the card of that version; else one that serves clients of older versions as well.',
  schema: { type: 'string', examples: ['1.0'] },
} as const;

/** The endpoint as it stands in a document. */
export function agentCardOperation({ id, tag, forms, components }: DescribedCardEndpoint): DescribedOperation {
  const text = { type: 'string' };
  const headers = {
    ETag: { description: 'The state of the card.', required: true, schema: text },
    'Last-Modified': { description: 'When the card became what it is.', required: true, schema: text },
    'Cache-Control': { description: 'How long the card may be kept.', required: true, schema: text },
  };
  return {
    operationId: id,
    tags: [tag],
    summary: 'Read the agent card',
    parameters: [
      ...(forms.length > 1 ? [VERSION] : []),
      { name: 'If-None-Match', in: 'header', description: 'States of the card that are known already.', schema: text },
      { name: 'If-Modified-Since', in: 'header', description: 'Since when the card is known.', schema: text },
    ],
    responses: {
      200: {
        description: 'The agent card',
        headers,
        content: { 'application/json': { schema: forms.length > 1 ? { anyOf: forms } : (forms[0] ?? {}) } },
      },
      304: { description: 'The card is the one that is known', headers },
      503: unavailableAnswer(components),
    },
  };
}
