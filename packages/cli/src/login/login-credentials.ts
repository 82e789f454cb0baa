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

/** The scopes that the user allows a token to be widened to, and how the user is told. */
export interface StepUp {
  readonly scopes: readonly string[];
  readonly tell: (text: string) => void;
}

/** What a login needs beside what is kept of it. */
export interface LoginMeans {
  readonly store: TokenStore;
  readonly clientSecret: string | undefined;
  /** The handling of a token that an agent refuses for lack of scope. */
  readonly stepUp: StepUp;
  /** Shows a person what to do; absent where nobody is asked. */
  readonly show?: (prompt: DeviceCodePrompt) => void;
}

const BEARER = { httpAuthSecurityScheme: { scheme: 'Bearer' } };

/**
 * The tokens of a login, renewed without asking a person. They are for the scheme that the login names, wherever the
 * card says that tokens come from: the login has settled that.
 */
export function loginCredentials(login: Login, means: LoginMeans): CredentialProvider {
  const tokens = tokensOf(login, means);
  return {
    credentials: ({ card, ...target }) => {
      const described = card.securitySchemes?.[login.scheme];
      const isForTokens =
        described !== undefined && ('oauth2SecurityScheme' in described || 'openIdConnectSecurityScheme' in described);
      const securitySchemes = { ...card.securitySchemes, ...(isForTokens && { [login.scheme]: BEARER }) };
      return tokens.credentials({ ...target, card: { ...card, securitySchemes } });
    },
    refused: (target, refusal) => tokens.refused(target, refusal),
  };
}

function tokensOf(login: Login, { store, clientSecret, show, stepUp }: LoginMeans): SchemeCredentials {
  const { issuer, endpoints, clientId, scopes, scheme } = login;
  const options = {
    issuer,
    clientId,
    scopes,
    scheme,
    store,
    stepUp: (wanted: StepUpRequest) => allowedScopes(wanted, stepUp),
    ...(endpoints !== undefined && { endpoints }),
    ...(clientSecret !== undefined && { clientSecret }),
  };
  if (login.flow === 'clientCredentials') return clientCredentials(options);
  return deviceCode({
    ...options,
    show: (prompt) => {
      if (show !== undefined) return show(prompt);
      throw new CliError('A2ACLI_ERR_CREDENTIALS_MISSING', `the login at ${issuer} is no longer good`, {
        hint: 'sign in again: parley auth login',
      });
    },
  });
}

/**
 * Of the scopes that an agent names, those that the user allows. Says who gives them, and who gets the token, before it
 * is asked for.
 */
function allowedScopes({ issuer, scopes, agent }: StepUpRequest, { scopes: allowed, tell }: StepUp): readonly string[] {
  const granted = scopes.filter((scope) => allowed.includes(scope));
  if (granted.length === scopes.length)
    tell(`The agent asks for more. Asking ${issuer} for a token with the scopes ${granted.join(' ')}, for ${agent}.`);
  else
    tell(
      `${agent} refuses the token of ${issuer}: it lacks the scopes ${scopes.join(' ')}; --step-up <scope> allows each of them`,
    );
  return granted.length === scopes.length ? granted : [];
}
