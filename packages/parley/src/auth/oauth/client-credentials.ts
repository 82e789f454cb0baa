import { checkOptions } from '../../options/check-options.js';
import { optionObject } from '../../options/option-schemas.js';
import type { SchemeCredentials } from '../credentials/scheme-credentials.js';
import { oauthCredentials } from './oauth-credentials.js';
import { type OAuthClientOptions, type OAuthRuntime, oauthClientSchemas } from './oauth-options.js';

/** Tokens that an authorization server gives to the client itself (RFC 6749 §4.4), for agents that call agents. */
export function clientCredentials(options: OAuthClientOptions, runtime: OAuthRuntime): SchemeCredentials {
  checkOptions({ subject: 'clientCredentials', schema: optionObject(oauthClientSchemas), options });
  return oauthCredentials({
    options,
    runtime,
    grant: {
      flow: 'clientCredentials',
      tokens: async ({ library, server, client, authentication, request }, parameters) => {
        const response = await library.clientCredentialsGrantRequest(
          server,
          client,
          authentication,
          { ...parameters },
          request,
        );
        return await library.processClientCredentialsResponse(server, client, response);
      },
    },
  });
}
