import {
  clientCredentials,
  type DeviceCodePrompt,
  deviceCode,
  type SchemeCredentials,
  type TokenStore,
} from 'parley-a2a/credentials';
import { CliError } from '../failure/cli-error.js';
import type { Login } from './login-store.js';

/** What a login needs beside what is kept of it. */
export interface LoginMeans {
  readonly store: TokenStore;
  readonly clientSecret: string | undefined;
  /** Shows a person what to do; absent where nobody is asked. */
  readonly show?: (prompt: DeviceCodePrompt) => void;
}

/** The credentials of a login: kept tokens, renewed where that can be done without asking anybody. */
export function loginCredentials(login: Login, { store, clientSecret, show }: LoginMeans): SchemeCredentials {
  const { issuer, endpoints, clientId, scopes, scheme } = login;
  const options = {
    issuer,
    clientId,
    scopes,
    scheme,
    store,
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
