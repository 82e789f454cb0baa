import { closed, func, positive, texts, withMethod } from './option-schemas.js';
import * as Type from './option-types.js';

const count = Type.Optional(Type.Integer({ minimum: 1, maximum: 8 }));
const ms = Type.Optional(positive);

/** The schema of the options of `agentCalls`. */
export const agentCallsSchema = closed({
  maxDepth: count,
  timeoutMs: ms,
  cancelMs: ms,
  maxBytes: ms,
  answerItems: ms,
  identity: Type.Optional(func),
  interceptors: Type.Optional(func),
  allow: Type.Optional(texts),
  only: Type.Optional(texts),
  bindings: Type.Optional(Type.Array(withMethod('speaks'))),
  signatures: Type.Optional(Type.Object({})),
  resume: Type.Optional(Type.Object({})),
});
