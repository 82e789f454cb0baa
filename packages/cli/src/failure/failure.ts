import { CliError, FORESEEN_CODES, type ForeseenCode, LOCAL_CODES, type LocalCode } from './cli-error.js';
import { transportCode } from './transport-codes.js';

/** A failure to report. Its code is either an A2A error name or a code of the tool. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
  readonly a2aCode: string | null;
  readonly exit: number;
}

/** Protocol error names, by code of the library. */
export const PROTOCOL_NAMES: Readonly<Record<string, string>> = {
  TASK_NOT_FOUND: 'TaskNotFoundError',
  TASK_NOT_CANCELABLE: 'TaskNotCancelableError',
  PUSH_NOTIFICATION_NOT_SUPPORTED: 'PushNotificationNotSupportedError',
  UNSUPPORTED_OPERATION: 'UnsupportedOperationError',
  CONTENT_TYPE_NOT_SUPPORTED: 'ContentTypeNotSupportedError',
  INVALID_AGENT_RESPONSE: 'InvalidAgentResponseError',
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: 'ExtendedAgentCardNotConfiguredError',
  EXTENSION_SUPPORT_REQUIRED: 'ExtensionSupportRequiredError',
  VERSION_NOT_SUPPORTED: 'VersionNotSupportedError',
  PARSE_ERROR: 'JSONParseError',
  INVALID_REQUEST: 'InvalidRequestError',
  METHOD_NOT_FOUND: 'MethodNotFoundError',
  METHOD_NOT_ALLOWED: 'MethodNotFoundError',
  INVALID_PARAMS: 'InvalidParamsError',
  PAYLOAD_TOO_LARGE: 'InvalidRequestError',
  RESOURCE_EXHAUSTED: 'ResourceExhaustedError',
  INTERNAL_ERROR: 'InternalError',
};

const NETWORK_CODES =
  /^(?:E(?:CONN|HOST|NET|PIPE|AI_|NOTFOUND|TIMEDOUT|PROTO|ADDR)|UND_ERR|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL)/;
const TLS_CODES = /^(?:CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO)/;

/** Properties of the failed call. */
export interface CallFacts {
  /** True if the call carried credentials. */
  readonly credentials?: boolean;
  /** Binding of the called interface. */
  readonly binding?: string | undefined;
}

/** Makes a report from any error. */
export function failureOf(error: unknown, { credentials = false, binding }: CallFacts = {}): Failure {
  const chain = chainOf(error);
  const own = chain.find((one): one is CliError => one instanceof CliError);
  if (own !== undefined) return local(own.code, own.message, own.hint);
  const card = chain.find((one) => one.name === 'AgentCardError');
  if (card !== undefined) return cardFailure(card);
  const fault = storageFault(error);
  if (fault !== undefined) return local('A2ACLI_ERR_USAGE', String(chain[0]?.message), STORAGE_HINTS[fault]);
  const protocol = chain.find((one) => typeof one.code === 'string' && isProtocolCode(one.code));
  const network = chain.find((one) => typeof one.code === 'string' && NETWORK_CODES.test(one.code));
  if (protocol?.code === 'UNAVAILABLE')
    return local('A2ACLI_ERR_UNREACHABLE', protocol.message, tlsHint(network) ?? retryHint(protocol));
  if (protocol !== undefined) return protocolFailure(protocol, { credentials, binding });
  if (network !== undefined) return unreachableFailure(network);
  const [first] = chain;
  if (first?.name === 'TimeoutError') return local('A2ACLI_ERR_TIMEOUT', 'the time is up', undefined);
  if (first?.name === 'OptionsError') return local('A2ACLI_ERR_USAGE', first.message, undefined);
  if (first?.message === 'fetch failed' || first?.message === 'terminated')
    return local('A2ACLI_ERR_UNREACHABLE', chain.at(-1)?.message ?? 'the agent cannot be reached', undefined);
  return local('A2ACLI_ERR_INTERNAL', first?.message ?? String(error), '--debug shows more');
}

const STORAGE_HINTS: Readonly<Record<string, string>> = {
  'in-use': 'stop the server that has the file',
  missing: 'name another file with --database',
  'not-empty': 'parley db copy --resume goes on with an interrupted copy',
};

/** Returns the fault of a database or its files that the operator can fix: `in-use`, `missing` or `not-empty`. */
export function storageFault(error: unknown): string | undefined {
  return chainOf(error).find(({ name, fault }) => name === 'StorageError' && fault !== undefined)?.fault;
}

interface Thrown {
  readonly name: string;
  /** The reason of an error about cards, credentials or storages. */
  readonly fault?: string;
  readonly message: string;
  readonly code?: unknown;
  readonly details?: ProtocolDetails;
}

interface ProtocolDetails {
  readonly violations?: readonly { readonly field: string; readonly description: string }[];
  readonly retryAfterMs?: number;
}

function chainOf(error: unknown): readonly Thrown[] {
  const chain: Thrown[] = [];
  for (let at = error; at instanceof Error && chain.length < 10; at = at.cause) {
    chain.push(at as Thrown);
    if (at instanceof AggregateError) chain.push(...at.errors.slice(0, 1));
  }
  return chain;
}

function isProtocolCode(code: string): boolean {
  return code in PROTOCOL_NAMES || code === 'UNAUTHENTICATED' || code === 'PERMISSION_DENIED' || code === 'UNAVAILABLE';
}

function protocolFailure(error: Thrown, { credentials, binding }: CallFacts): Failure {
  const code = String(error.code);
  const { message } = error;
  if (error.fault === 'refused') return local('A2ACLI_ERR_AUTH_FAILED', message, undefined);
  if (error.fault === 'missing') return local('A2ACLI_ERR_CREDENTIALS_MISSING', message, undefined);
  if (code === 'UNAUTHENTICATED' && credentials !== true)
    return local('A2ACLI_ERR_CREDENTIALS_MISSING', message, undefined);
  if (code === 'UNAUTHENTICATED')
    return local('A2ACLI_ERR_AUTH_FAILED', `the agent refused the credential: ${message}`, undefined);
  if (code === 'PERMISSION_DENIED')
    return local('A2ACLI_ERR_AUTH_FAILED', message, credentials ? LACKS_RIGHT : undefined);
  const unnamed = error.details?.violations?.filter(({ field }) => !message.includes(field)) ?? [];
  const violations = unnamed.map(({ field, description }) => `${field}: ${description}`);
  return {
    code: PROTOCOL_NAMES[code] ?? 'InternalError',
    message: violations.length === 0 ? message : `${message} (${violations.join('; ')})`,
    hint: null,
    a2aCode: (binding !== undefined && transportCode(code, binding)) || null,
    exit: 1,
  };
}

function cardFailure({ message, fault }: Thrown): Failure {
  if (fault === 'ambiguous') {
    return local('A2ACLI_ERR_USAGE', message, 'the same command with #<identifier> behind the reference');
  }
  if (fault === 'unverified') {
    const hint =
      '--card-key names the keys that are accepted; parley card get shows the card and the check of its signatures';
    return local('A2ACLI_ERR_CARD_INVALID', message, hint);
  }
  return local(fault === 'invalid' ? 'A2ACLI_ERR_CARD_INVALID' : 'A2ACLI_ERR_CARD_NOT_FOUND', message, undefined);
}

function unreachableFailure(error: Thrown): Failure {
  return local('A2ACLI_ERR_UNREACHABLE', error.message || String(error.code), tlsHint(error));
}

const LACKS_RIGHT = 'the credential is good, but does not allow this: ask the operator of the agent for the right';

/** Returns a hint for an agent that has responded, but cannot do the call now. Undefined without a response. */
function retryHint({ name, details }: Thrown): string | undefined {
  if (name === 'ConnectionError') return undefined;
  const { retryAfterMs } = details ?? {};
  const time = retryAfterMs === undefined ? 'later' : `in ${Math.ceil(retryAfterMs / 1000)} s`;
  return `the agent answered, but cannot do this now: try again ${time}`;
}

function tlsHint(error: Thrown | undefined): string | undefined {
  if (!TLS_CODES.test(String(error?.code))) return undefined;
  return '--ca-cert trusts who signed the certificate; --insecure goes on without verifying';
}

function local(code: LocalCode | ForeseenCode, message: string, hint: string | undefined): Failure {
  return { code, message, hint: hint ?? null, a2aCode: null, exit: { ...LOCAL_CODES, ...FORESEEN_CODES }[code] };
}
