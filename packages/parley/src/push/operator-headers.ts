import { OptionsError } from '../errors/options-error.js';
import type { DeliveryClaim } from '../store/push-storage.js';
import { areHeaders } from './push-rules.js';

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

/** Headers for all webhooks, or a function that chooses them for each attempt. */
export type OperatorHeaders =
  | Readonly<Record<string, string>>
  | ((webhook: NotifiedWebhook) => Readonly<Record<string, string>> | undefined);

const RULE =
  'must be at most 32 headers with printable ASCII, none of the connection, the content or the notification itself';

/**
 * The headers of the operator for one webhook, with names in lower case.
 * @throws OptionsError for headers that no notification may have, and whatever the operator's function throws.
 */
export function headersFor(headers: OperatorHeaders, { key, configId, config }: DeliveryClaim): Record<string, string> {
  const { tenant, owner } = key.scope;
  const webhook = () => ({ url: new URL(config.url), id: configId, taskId: key.id, tenant, owner });
  const chosen: unknown = typeof headers === 'function' ? (headers(webhook()) ?? {}) : headers;
  // A promise has no own members, so it would count as no headers.
  if (chosen instanceof Promise || !areHeaders(chosen)) throw new OptionsError('push.headers', [RULE]);
  return Object.fromEntries(Object.entries(chosen).map(([name, value]) => [name.toLowerCase(), value]));
}
