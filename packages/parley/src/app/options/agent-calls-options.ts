import { func, optionObject, positive, texts, withMethod } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';

const count = Type.Optional(Type.Integer({ minimum: 1, maximum: 8 }));
const ms = Type.Optional(positive);
const number = Type.Optional(Type.Number({ minimum: 0 }));
const resume = {
  attempts: number,
  firstMs: number,
  longestMs: number,
  longestRetryAfterMs: number,
  silenceMs: number,
};

/** The schema of the options of `agentCalls`. */
export const agentCallsSchema = optionObject({
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
  signatures: Type.Optional(
    optionObject({
      keys: Type.Optional(Type.Unknown()),
      jwksOrigins: Type.Optional(texts),
      onVerdicts: Type.Optional(func),
    }),
  ),
  resume: Type.Optional(optionObject(resume)),
});
