import {
  type CredentialProvider,
  clientCredentials,
  type DeviceCodePrompt,
  deviceCode,
  type SchemeCredentials,
  type StepUpRequest,
  type TokenStore,
} from 'parley-a2a/credentials';
import { CliError } from '../failure/cli-error.js';
import type { Login } from './login-store.js';

/** Scopes that the user allows for a wider token, and the function that informs the user. */
interface StepUp {
  readonly scopes: readonly string[];
  readonly tell: (text: string) => void;
}

/** Dependencies of a login. */
interface LoginMeans {
  readonly store: TokenStore;
  readonly clientSecret: string | undefined;
  /** The handling of a call that needs a further scope. */
  readonly stepUp: StepUp;
  /** Shows a prompt to a person; absent if no person can be asked. */
  readonly show?: (prompt: DeviceCodePrompt) => void;
}

const BEARER = { httpAuthSecurityScheme: { scheme: 'Bearer' } };

/**
 * Returns the tokens of a login, refreshed without a prompt. They are used for the scheme of the login, even if the
 * card now names another source: `auth login` has checked it.
 */
export function loginCredentials(login: Login, means: LoginMeans): CredentialProvider {
  const tokens = tokensOf(login, means);
  return {
    credentials: ({ card, ...target }) => {
      const described = card.securitySchemes?.[login.scheme];
      const isForTokens =
        described !== undefined &&
        (described.oauth2SecurityScheme !== undefined || described.openIdConnectSecurityScheme !== undefined);
      const securitySchemes = { ...card.securitySchemes, ...(isForTokens && { [login.scheme]: BEARER }) };
      return tokens.credentials({ ...target, card: { ...card, securitySchemes } });
    },
    refused: (target, refusal) => tokens.refused(target, refusal),
  };
}

function tokensOf(login: Login, { store, clientSecret, show, stepUp }: LoginMeans): SchemeCredentials {
  const { issuer, endpoints, trustedOrigins, clientId, scopes, scheme } = login;
  const options = {
    issuer,
    clientId,
    scopes,
    scheme,
    store,
    stepUp: (wanted: StepUpRequest) => allowedScopes(wanted, stepUp),
    ...(endpoints !== undefined && { endpoints }),
    ...(trustedOrigins !== undefined && { trustedOrigins }),
    ...(clientSecret !== undefined && { clientSecret }),
  };
  if (login.flow === 'clientCredentials') return clientCredentials(options);
  return deviceCode({
    ...options,
    show: (prompt) => {
      if (show !== undefined) return show(prompt);
      throw new CliError('A2ACLI_ERR_CREDENTIALS_MISSING', `the login at ${issuer} is no longer valid`, {
        hint: 'sign in again: parley auth login',
      });
    },
  });
}

/**
 * Returns the scopes of the agent's refusal that the user allows. Informs the user about the issuer and the agent
 * before the token is requested.
 */
function allowedScopes({ issuer, scopes, agent }: StepUpRequest, { scopes: allowed, tell }: StepUp): readonly string[] {
  const granted = scopes.filter((scope) => allowed.includes(scope));
  if (granted.length === scopes.length)
    tell(`The agent asks for more. Asking ${issuer} for a token with the scopes ${granted.join(' ')}, for ${agent}.`);
  else {
    const lacking = `it lacks the scopes ${scopes.join(' ')}`;
    tell(`${agent} refuses the token of ${issuer}: ${lacking}; --step-up <scope> allows each of them`);
  }
  return granted.length === scopes.length ? granted : [];
}
