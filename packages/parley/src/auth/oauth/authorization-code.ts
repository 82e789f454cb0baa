import { CredentialsError } from '../../errors/credentials-error.js';
import type { SchemeCredentials } from '../credentials/scheme-credentials.js';
import { oauthCredentials } from './oauth-credentials.js';
import { callersOwn } from './oauth-failure.js';
import type { OAuthClientOptions, OAuthRuntime } from './oauth-options.js';

/** A client on behalf of a person with a browser. */
export interface AuthorizationCodeOptions extends OAuthClientOptions {
  /** Where the person comes back to, as the authorization server knows it. */
  readonly redirectUri: string;
  /**
   * Shows a page of the authorization server to the person and resolves to the address it sends them back to, with its query. Asked once for
   * all calls that wait; the signal is aborted when none does any more.
   */
  authorize(url: string, signal: AbortSignal): Promise<string>;
}

/** Tokens that a person allows in a browser (RFC 6749 §4.1), always with PKCE (RFC 7636) and a state. */
export function authorizationCode(options: AuthorizationCodeOptions, runtime: OAuthRuntime): SchemeCredentials {
  const { redirectUri } = options;
  return oauthCredentials({
    options,
    runtime,
    grant: {
      flow: 'authorizationCode',
      tokens: async ({ library, server, client, authentication, request }, parameters) => {
        const verifier = library.generateRandomCodeVerifier();
        const state = library.generateRandomState();
        const isOpenId = parameters.scope?.split(' ').includes('openid') === true;
        const nonce = isOpenId ? library.generateRandomNonce() : undefined;
        const url = new URL(pageOf(server.authorization_endpoint, options.issuer));
        const query = {
          ...parameters,
          response_type: 'code',
          client_id: client.client_id,
          redirect_uri: redirectUri,
          state,
          code_challenge: await library.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          ...(nonce !== undefined && { nonce }),
        };
        for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
        const back = await callersOwn(() => options.authorize(url.href, request.signal));
        if (!URL.canParse(back)) throw new CredentialsError('missing', 'authorize resolved to what is no url');
        const callback = library.validateAuthResponse(server, client, new URL(back), state);
        const response = await library.authorizationCodeGrantRequest(
          server,
          client,
          authentication,
          callback,
          redirectUri,
          verifier,
          request,
        );
        return await library.processAuthorizationCodeResponse(server, client, response, {
          ...(nonce !== undefined && { expectedNonce: nonce, requireIdToken: true }),
        });
      },
    },
  });
}

/** The caller shows it to a person, so it has to be a page of the web. */
function pageOf(url: string | undefined, issuer: string): string {
  if (url !== undefined && /^https?:\/\//i.test(url) && URL.canParse(url)) return url;
  throw new CredentialsError('unavailable', `${issuer} has no page where a person could allow a token`);
}
