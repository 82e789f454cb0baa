import { pendingOptions } from '../client/pending-options.js';
import { checkOptions } from '../options/check-options.js';
import {
  custom,
  flag,
  func,
  mapOf,
  type OptionSchemas,
  optionObject,
  text,
  texts,
  withMethod,
} from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import type { ConnectOptions, FetchCardOptions, InProcessPath } from './client.js';
import { checkPlatform } from './platform.js';

const amount = Type.Optional(Type.Number({ minimum: 0 }));
/** A time or a size; Infinity means no limit. */
const bound = Type.Optional(custom((value) => typeof value === 'number' && value > 0, 'must be a number above 0'));
const some = Type.Optional(texts);
const headers = Type.Optional(mapOf(text));
const signal = Type.Optional(
  custom((value) => typeof value === 'object' && value !== null && 'aborted' in value, 'must be an AbortSignal'),
);

/** The options that `connect` and `fetchAgentCard` share. */
const search: OptionSchemas<Omit<FetchCardOptions, 'onDocument'>> = {
  cardCache: Type.Optional(withMethod('get')),
  cardHeaders: headers,
  trustedOrigins: some,
  signatures: Type.Optional(
    optionObject({ keys: Type.Optional(Type.Unknown()), jwksOrigins: some, onVerdicts: Type.Optional(func) }),
  ),
  answerBytes: bound,
  answerItems: bound,
  fetch: Type.Optional(func),
  signal,
  timeoutMs: bound,
};

const connect: OptionSchemas<ConnectOptions & InProcessPath> = {
  ...search,
  binding: Type.Optional(text),
  version: Type.Optional(text),
  prefer: some,
  extensions: some,
  headers,
  credentials: Type.Optional(
    custom(
      (value) => typeof (value as { credentials?: unknown } | null)?.credentials === 'function',
      'must be made by a function of parley-a2a/credentials, such as apiKey(key)',
    ),
  ),
  tenant: Type.Optional(text),
  retry: Type.Optional(
    optionObject({ attempts: amount, firstMs: amount, longestMs: amount, mayRepeat: Type.Optional(flag) }),
  ),
  resume: Type.Optional(
    optionObject({
      attempts: amount,
      firstMs: amount,
      longestMs: amount,
      longestRetryAfterMs: amount,
      silenceMs: bound,
    }),
  ),
  onConnection: Type.Optional(func),
  interceptors: Type.Optional(Type.Array(func)),
  logger: Type.Optional(withMethod('error')),
  eventBytes: bound,
  bindings: Type.Optional(Type.Array(withMethod('speaks'))),
  path: Type.Optional(text),
};

/** @throws OptionsError for an old host, for an agent that is a promise, and for options that are unknown or wrong. */
export function checkConnect(agent: unknown, options: ConnectOptions & InProcessPath): void {
  checkPlatform('connect');
  if (agent instanceof Promise) throw pendingOptions('connect', { agent });
  checkOptions({ subject: 'connect', schema: optionObject(connect), options });
}

/** @throws OptionsError for options of `fetchAgentCard` that are unknown or wrong. */
export function checkFetchCardOptions(options: FetchCardOptions): void {
  // Callers share one object of options with `connect`.
  const schema = optionObject({ ...connect, onDocument: Type.Optional(func) });
  checkOptions({ subject: 'fetchAgentCard', schema, options });
}
