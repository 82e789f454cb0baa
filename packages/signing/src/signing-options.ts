import {
  eitherOf,
  flag,
  func,
  keySetSchema,
  keyTimesSchema,
  optionObject,
  positive,
  Type,
  text,
  texts,
} from 'parley-a2a/kit';

const object = Type.Object({});
const keys = Type.Array(object);
const keySets = {
  allow: Type.Optional(texts),
  keyTimes: Type.Optional(keyTimesSchema),
  logger: Type.Optional(object),
  fetch: Type.Optional(func),
};
/** The name of an agent in signatures. Its length is checked separately. */
const audience = text;
/** Keys are checked separately, so that errors name each key. */
const peer = {
  keys: Type.Optional(eitherOf([keys, keySetSchema], 'must be a list of keys, or a key set')),
  jwksUrl: Type.Optional(text),
};
const verified = { audience, required: Type.Optional(flag), unsignedEnds: Type.Optional(flag) };

/** The schema of the options of `messageSigning`. */
export const messageSigningSchema = optionObject({
  ...keySets,
  agent: Type.Optional(text),
  audience,
  required: Type.Optional(flag),
  trust: Type.Array(optionObject({ ...peer, id: text, user: Type.Optional(text) })),
  keys: Type.Optional(keys),
  maxAgeMs: Type.Optional(positive),
  encryption: Type.Optional(
    optionObject({
      keys,
      required: Type.Optional(flag),
      answerKeys: Type.Optional({ type: 'string', enum: ['caller', 'signer'] }),
    }),
  ),
});

/** The schema of the options of `signedCalls`. */
export const signedCallsSchema = optionObject({
  ...keySets,
  ...verified,
  keys,
  agent: Type.Optional(optionObject(peer)),
  lifetimeMs: Type.Optional(positive),
  encryption: Type.Optional(
    optionObject({ to: optionObject(peer), keys: Type.Optional(keys), required: Type.Optional(flag) }),
  ),
});

/** The schema of the options of `verifySigned`. */
export const verifySchema = optionObject({ ...keySets, ...verified, agent: optionObject(peer) });
