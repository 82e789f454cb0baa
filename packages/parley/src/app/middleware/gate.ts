import {
  type Authentication,
  type Authenticator,
  admittedUser,
  isStorable,
  type KnownUser,
} from '../../auth/authenticator.js';
import { PresentedCredentials } from '../../auth/presented-credentials.js';
import type { User } from '../../auth/user.js';
import { type LimitPorts, type RefusedRequest, tellLimit } from '../../bindings/http/answer-call.js';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import { toA2AError } from '../../bindings/http/wire-error.js';
import { A2AError } from '../../errors/a2a-error.js';
import { NOT_ACCEPTED, PermissionDeniedError, UnauthenticatedError } from '../../errors/standard-errors.js';
import type { ClientGroups } from '../../net/client-address.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../telemetry/logger.js';
import { varying } from './answer-headers.js';
import type { AskingPorts } from './ask-again.js';
import type { CredentialEnds } from './credential-ends.js';
import { READ_METHODS } from './method-filter.js';

/** The rule for the callers of an endpoint, and the form of a refusal. */
export interface Access {
  readonly authenticator: Authenticator;
  /** True if callers need a credential even if the authenticator is optional. */
  readonly required?: boolean;
  readonly refuse: (refused: RefusedRequest) => ExchangeResponse | Promise<ExchangeResponse>;
}

/** The access to the endpoint of a request; `undefined` if all callers may use the endpoint. */
export type AccessOf = (request: ExchangeRequest) => Access | undefined;

/** The rules of a gate, and its ports. */
interface GateOptions {
  readonly accessOf: AccessOf;
  /** Absent: clients are told apart by the addresses of their connections. */
  readonly groupOf?: ClientGroups | undefined;
  readonly ends: CredentialEnds;
  /** Gets the limits of authenticators. */
  readonly limits: LimitPorts;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A request in the gate. */
interface Arrival {
  readonly request: ExchangeRequest;
  readonly access: Access;
  readonly credentials: PresentedCredentials;
}

/**
 * The exchange behind a gate. The gate authenticates a request before any other code sees it, and sets its user. It
 * refuses a request without a valid credential, unless the authenticator is optional and there is no credential.
 */
export function gateExchange(next: Exchange, options: GateOptions): Exchange {
  const { accessOf, groupOf, limits, clock, logger } = options;
  /** Sets the user of a request, or gives the refusal. */
  const admit = (arrival: Arrival, found: Authentication): Promise<ExchangeResponse> | undefined => {
    const { request, credentials } = arrival;
    try {
      request.user = userOf(found, arrival, clock);
      if (found.kind === 'user') watchEnd(arrival, found, options);
      return undefined;
    } catch (thrown) {
      const reason = thrown instanceof A2AError ? reasonOf(found, credentials) : undefined;
      if (reason !== undefined) logger.info('credential refused', { requestId: request.requestId, reason });
      return refuse(arrival, thrown);
    }
  };
  const refuse = async (arrival: Arrival, thrown: unknown): Promise<ExchangeResponse> => {
    const { request, access } = arrival;
    const error = toA2AError(thrown, logger, { operation: 'authenticate', requestId: request.requestId });
    tellLimit(error, limits, request);
    const answer = await access.refuse({ request, error, challenges: access.authenticator.challenges });
    return varyingByCredential(answer, arrival);
  };
  const read = async (arrival: Arrival): Promise<ExchangeResponse> =>
    varyingByCredential(await next(arrival.request), arrival);
  return (request) => {
    const access = accessOf(request);
    if (access === undefined) return next(request);
    const arrival = { request, access, credentials: new PresentedCredentials(request, groupOf) };
    let found: Authentication | Promise<Authentication>;
    try {
      found = access.authenticator.authenticate(arrival.credentials);
    } catch (thrown) {
      return refuse(arrival, thrown);
    }
    if ('then' in found) {
      return found.then(
        (settled) => admit(arrival, settled) ?? (isReading(request) ? read(arrival) : next(request)),
        (thrown: unknown) => refuse(arrival, thrown),
      );
    }
    // An authenticator that answers at once costs no further promise.
    return admit(arrival, found) ?? (isReading(request) ? read(arrival) : next(request));
  };
}

/**
 * The user of a request; `undefined` for an anonymous caller.
 * @throws A2AError for a caller who may not pass.
 */
function userOf(found: Authentication, { access, credentials }: Arrival, clock: Clock): User | undefined {
  const { authenticator, required } = access;
  if (credentials.repeated !== undefined)
    throw new UnauthenticatedError(authenticator.challenges, `${credentials.repeated} came twice. Send it once`);
  const user = admittedUser(authenticator, found);
  if (found.kind === 'user' && isOver(found, clock))
    throw new UnauthenticatedError(authenticator.challenges, NOT_ACCEPTED);
  if (found.kind !== 'user' && required === true) throw new UnauthenticatedError(authenticator.challenges);
  if (found.kind === 'user' && found.pageAllowed !== true && credentials.isCrossSite) {
    throw new PermissionDeniedError('This credential needs the Origin or Sec-Fetch-Site of a page of this server');
  }
  return user;
}

/** True if an authenticator admits a credential that has ended. */
function isOver({ user, revoked }: KnownUser, clock: Clock): boolean {
  return revoked?.aborted === true || (user.expiresAt !== undefined && user.expiresAt <= clock.now());
}

/** Lets streams and waiting calls end with the credential, if it has an end. */
function watchEnd(arrival: Arrival, found: KnownUser, ports: AskingPorts): void {
  const { user, revoked, askAgainAt } = found;
  const { expiresAt = askAgainAt } = user;
  if (expiresAt === undefined && revoked === undefined) return;
  if (askAgainAt === undefined) {
    arrival.request.onCredentialEnd = ports.ends.watcherOf({ expiresAt, revoked });
    return;
  }
  watchAndAskAgain(arrival, { found, askAgainAt }, ports);
}

/** Lets them end also if the authenticator says so later. */
function watchAndAskAgain(
  arrival: Arrival,
  { found, askAgainAt }: { readonly found: KnownUser; readonly askAgainAt: number },
  ports: AskingPorts,
): void {
  const { user, revoked } = found;
  const { expiresAt = askAgainAt } = user;
  const watch = (ended: () => void): (() => void) => {
    const first = { expiresAt: Math.min(askAgainAt, expiresAt), revoked };
    let stop: (() => void) | undefined = ports.ends.watch(first, () =>
      import('./ask-again.js').then(({ askAgain }) => {
        stop &&= askAgain({ ...arrival, found, ...ports }, ended);
      }, ended),
    );
    return () => {
      stop?.();
      stop = undefined;
    };
  };
  arrival.request.onCredentialEnd = watch;
}

/** The reason of a refusal for the log; `undefined` if there was no credential. */
function reasonOf(found: Authentication, { repeated, isCrossSite }: PresentedCredentials): string | undefined {
  if (repeated !== undefined) return `${repeated} came twice`;
  if (found.kind === 'anonymous') return undefined;
  if (found.kind === 'refused') return found.reason;
  if (!isStorable(found.user)) return 'the id is not well-formed Unicode';
  return isCrossSite ? 'a page of another site' : 'expired or revoked';
}

/** The answer, for caches apart from the answers to other callers. */
function varyingByCredential(answer: ExchangeResponse, { request, credentials }: Arrival): ExchangeResponse {
  return isReading(request) ? credentials.read.reduce(varying, answer) : answer;
}

/** True if caches may keep the answer. */
function isReading({ method }: ExchangeRequest): boolean {
  return READ_METHODS.includes(method);
}
