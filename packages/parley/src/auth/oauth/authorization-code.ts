import { CredentialsError } from '../../errors/credentials-error.js';
import { checkOptions } from '../../options/check-options.js';
import { func, type OptionSchemas, optionObject, webUrl } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import type { SchemeCredentials } from '../credentials/scheme-credentials.js';
import { oauthCredentials } from './oauth-credentials.js';
import { callersOwn } from './oauth-failure.js';
import { type OAuthClientOptions, type OAuthRuntime, oauthClientSchemas } from './oauth-options.js';

/** Options of a client that acts for a person with a browser. */
export interface AuthorizationCodeOptions extends OAuthClientOptions {
  /** The address that the authorization server sends the person back to, as it is registered there. */
  readonly redirectUri: string;
  /**
   * Shows a page of the authorization server to the person. Resolves to the address that the person is sent back to,
   * with its query. Called once for all waiting calls. The signal is aborted when no call waits any more.
   */
  authorize(url: string, signal: AbortSignal): Promise<string>;
}

const schemas: OptionSchemas<AuthorizationCodeOptions> = {
  ...oauthClientSchemas,
  redirectUri: webUrl('must be an http or https URL'),
  authorize: func,
};

/** The options, and the end of the listening that `loopbackRedirect` returns with its own. */
const authorizationCodeSchema = optionObject({ ...schemas, close: Type.Optional(func) });

/** Tokens that a person grants in a browser (RFC 6749 §4.1), always with PKCE (RFC 7636) and a state. */
export function authorizationCode(options: AuthorizationCodeOptions, runtime: OAuthRuntime): SchemeCredentials {
  const { redirectUri } = checkOptions({ subject: 'authorizationCode', schema: authorizationCodeSchema, options });
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
        if (!URL.canParse(back))
          throw new CredentialsError('missing', 'authorize must resolve to the url that the person came back to');
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

/** The caller shows the page to a person, so it must have an http or https url. */
function pageOf(url: string | undefined, issuer: string): string {
  if (url !== undefined && /^https?:\/\//i.test(url) && URL.canParse(url)) return url;
  throw new CredentialsError('unavailable', `${issuer} has no authorization page at an http or https url`);
}
