import type { FieldViolation } from '../errors/a2a-error.js';
import { isObject } from '../model/json.js';
import type { TaskPushNotificationConfig } from '../model/push-notification-config.js';
import type { PushRegistration } from '../server/push-registration.js';

/** Rules for push configurations. */
interface PushRulesOptions {
  /** `maxConfigs`: the most configurations of a task; default 16. */
  readonly options: { readonly maxConfigs?: number | undefined };
  /** The reason for which a url is not called; undefined if it may be. */
  readonly refusal: (url: URL) => string | undefined;
}

const MAX_CONFIGS = 16;
const URL_LENGTH = 2_048;
const ID_LENGTH = 256;
const SECRET_LENGTH = 8_192;
/** Printable ASCII without spaces at its ends: a header value that all receivers read in the same way. */
const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/** A token of HTTP (RFC 9110 §5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

const MOST_HEADERS = 32;
/** Headers that a notification sets by itself, and those of the connection. */
const OWN_HEADERS =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|keep-alive|expect|proxy-.*|x-a2a-notification-.*)$/i;

/** True if notifications may have these headers of the operator. */
export function areHeaders(value: unknown): value is Readonly<Record<string, string>> {
  if (!isObject(value)) return false;
  const entries = Object.entries(value);
  return entries.length <= MOST_HEADERS && entries.every(isHeader);
}

function isHeader([name, value]: [string, unknown]): boolean {
  return (
    TOKEN.test(name) &&
    !OWN_HEADERS.test(name) &&
    (value === '' || (typeof value === 'string' && secretProblem(value) === undefined))
  );
}

/** The rules by which an agent accepts webhooks (Spec §13.2). */
export function pushRules({ options: { maxConfigs = MAX_CONFIGS }, refusal }: PushRulesOptions): PushRegistration {
  return {
    maxConfigs,
    violations({ id = '', url, token, authentication }: TaskPushNotificationConfig) {
      const { scheme, credentials = '' } = authentication ?? {};
      const found: (FieldViolation | undefined)[] = [
        problem('url', urlProblem(url, refusal)),
        problem('id', id.length > ID_LENGTH ? `must have at most ${ID_LENGTH} characters` : undefined),
        problem('token', token === undefined ? undefined : secretProblem(token)),
        problem('authentication.scheme', scheme === undefined || TOKEN.test(scheme) ? undefined : NO_SCHEME),
        problem('authentication.credentials', credentials === '' ? undefined : secretProblem(credentials)),
      ];
      return found.filter((one) => one !== undefined);
    },
  };
}

const NO_SCHEME = 'must be the name of an HTTP authentication scheme, such as Bearer';

function problem(field: string, description: string | undefined): FieldViolation | undefined {
  return description === undefined ? undefined : { field, description };
}

/** The value is a secret: no description quotes it. */
function secretProblem(value: string): string | undefined {
  if (value.length > SECRET_LENGTH) return `must have at most ${SECRET_LENGTH} characters`;
  return HEADER_VALUE.test(value) ? undefined : 'must have printable ASCII characters only, and no spaces at its ends';
}

function urlProblem(text: string, refusal: PushRulesOptions['refusal']): string | undefined {
  if (text.length > URL_LENGTH) return `must have at most ${URL_LENGTH} characters`;
  // URL parsers remove some control characters, so that two different texts would name one url.
  if (/[^\x21-\x7e]/.test(text)) return 'must have printable ASCII characters only';
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return 'must be an absolute http or https URL';
  }
  if (url.username !== '' || url.password !== '') return 'must have no user or password';
  return refusal(url);
}
