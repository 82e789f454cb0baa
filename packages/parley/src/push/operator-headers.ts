import { OptionsError } from '../errors/options-error.js';
import type { DeliveryClaim } from '../store/push-deliveries.js';

/** A webhook for which an operator chooses headers. */
export interface NotifiedWebhook {
  /** The url that its caller has registered. */
  readonly url: URL;
  /** Of the configuration. */
  readonly id: string;
  readonly taskId: string;
  readonly tenant: string;
  /** The id of the user to whom the task belongs; null for anonymous callers. */
  readonly owner: string | null;
}

/** Headers for all webhooks, or a choice for each. The choice is made anew for each attempt. */
export type OperatorHeaders =
  | Readonly<Record<string, string>>
  | ((webhook: NotifiedWebhook) => Readonly<Record<string, string>> | undefined);

const MOST_HEADERS = 32;
const LONGEST_VALUE = 8_192;
const VALUE = /^[\x20-\x7e]*$/;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Headers that a notification sets by itself, and those of the connection. */
const OWN_HEADERS =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|keep-alive|expect|proxy-.*|x-a2a-notification-.*)$/i;

/** The rule of `areHeaders` in words. It quotes no value: values are secrets. */
export const HEADERS_RULE = `must be at most ${MOST_HEADERS} headers with values of printable ASCII, none of the connection, the content or the notification itself`;

/** True if notifications may have these headers. */
export function areHeaders(value: unknown): value is Readonly<Record<string, string>> {
  // A promise has no members either.
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value) && !('then' in value);
  if (!isObject) return false;
  const entries = Object.entries(value);
  return entries.length <= MOST_HEADERS && entries.every(([name, text]) => isHeader(name, text));
}

function isHeader(name: string, value: unknown): boolean {
  if (!NAME.test(name) || OWN_HEADERS.test(name)) return false;
  return typeof value === 'string' && value.length <= LONGEST_VALUE && VALUE.test(value);
}

/**
 * The headers of the operator for one webhook, with names in lower case.
 * @throws OptionsError for headers that no notification may have, and whatever the operator's function throws.
 */
export function headersFor(headers: OperatorHeaders, { key, configId, config }: DeliveryClaim): Record<string, string> {
  const { tenant, owner } = key.scope;
  const webhook = () => ({ url: new URL(config.url), id: configId, taskId: key.id, tenant, owner });
  const chosen: unknown = typeof headers === 'function' ? (headers(webhook()) ?? {}) : headers;
  if (!areHeaders(chosen)) throw new OptionsError('push.headers', [HEADERS_RULE]);
  return Object.fromEntries(Object.entries(chosen).map(([name, value]) => [name.toLowerCase(), value]));
}
