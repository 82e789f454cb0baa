import type { AuthenticationInfo } from '../model/push-notification-config.js';

/** Header of the token by which a receiver knows its notifications. */
export const NOTIFICATION_TOKEN = 'x-a2a-notification-token';

/** The headers by which a webhook authenticates its sender: both forms, if both are configured (Spec §4.3.3, §13.2). */
export function webhookCredentials(config: {
  readonly token?: string;
  readonly authentication?: AuthenticationInfo;
}): Record<string, string> {
  const { token, authentication } = config;
  const headers: Record<string, string> = {};
  if (authentication !== undefined) {
    const { scheme, credentials = '' } = authentication;
    headers.authorization = credentials === '' ? scheme : `${scheme} ${credentials}`;
  }
  if (token !== undefined) headers[NOTIFICATION_TOKEN] = token;
  return headers;
}
