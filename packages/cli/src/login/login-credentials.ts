import {
  type CredentialProvider,
  clientCredentials,
  type DeviceCodePrompt,
  deviceCode,
  type SchemeCredentials,
  type TokenStore,
} from 'parley-a2a/credentials';
import { CliError } from '../failure/cli-error.js';
import { issuerFetch } from './issuer-endpoints.js';
import type { Login } from './login-store.js';

/** What a login needs beside what is kept of it. */
export interface LoginMeans {
  readonly store: TokenStore;
  readonly clientSecret: string | undefined;
  /** Shows a person what to do; absent where nobody is asked. */
  readonly show?: (prompt: DeviceCodePrompt) => void;
}

const BEARER = { httpAuthSecurityScheme: { scheme: 'Bearer' } };

/**
 * The tokens of a login, renewed without asking a person. They are for the scheme that the login names, wherever the card
 * says that tokens come from: the login has settled that.
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

function tokensOf(login: Login, { store, clientSecret, show }: LoginMeans): SchemeCredentials {
  const { issuer, endpoints, clientId, scopes, scheme } = login;
  const options = {
    issuer,
    clientId,
    scopes,
    scheme,
    store,
    fetch: issuerFetch(issuer),
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
