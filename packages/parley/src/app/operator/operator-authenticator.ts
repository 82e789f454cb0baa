import { ANONYMOUS, type Authentication, type Authenticator, type Credentials } from '../../auth/authenticator.js';
import { isSameText } from '../../auth/same-text.js';
import { userId } from '../../auth/user.js';
import type { SecurityScheme } from '../../model/security-scheme.js';
import { isOfThisMachine } from '../forwarded-request.js';

/** The header of the token of a launch. A page of another origin cannot add it. */
const TOKEN_HEADER = 'operator-token';
/** The challenge that names the header. */
const CHALLENGE = 'Operator-Token';

/** The ways in which operators prove who they are. */
interface OperatorCredentials {
  /** Finds users, some of which are operators. Absent: only the token counts. */
  readonly users: Authenticator | undefined;
  /** The token for requests of this machine. Absent: none. */
  readonly token: string | undefined;
  /** The permission of the user whom the token stands for. */
  readonly permission: string;
}

/** Finds the users of an operator API: by a token over loopback, or as the host does. */
export class OperatorAuthenticator implements Authenticator {
  readonly challenges: readonly string[];
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
  readonly #users: Authenticator | undefined;
  readonly #token: string | undefined;
  readonly #found: Authentication;

  constructor({ users, token, permission }: OperatorCredentials) {
    this.#users = users;
    this.#token = token;
    this.challenges = [...(users?.challenges ?? []), ...(token === undefined ? [] : [CHALLENGE])];
    const scheme = {
      name: CHALLENGE,
      location: 'header',
      description: 'The token of a launch, over loopback',
    } as const;
    this.securitySchemes = token === undefined ? {} : { operatorToken: { apiKeySecurityScheme: scheme } };
    const user = { id: userId('operator', 'token'), permissions: [permission] };
    this.#found = Object.freeze({ kind: 'user', user, pageAllowed: true });
  }

  authenticate(credentials: Credentials): Authentication | Promise<Authentication> {
    const given = this.#token === undefined ? undefined : credentials.header(TOKEN_HEADER);
    if (this.#token === undefined || given === undefined) return this.#users?.authenticate(credentials) ?? ANONYMOUS;
    // A peer that the host does not know may be any machine.
    if (credentials.peer === undefined || !isOfThisMachine(credentials))
      return { kind: 'refused', reason: 'an operator token that came not over loopback' };
    return isSameText(given, this.#token) ? this.#found : { kind: 'refused', reason: 'a wrong operator token' };
  }
}
