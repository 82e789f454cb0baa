import type * as OAuth from 'oauth4webapi';
import type { OAuthClientAuthentication } from './oauth-options.js';

/**
 * The authentication of a client at an authorization server. `methods` are those that the server takes for a
 * `clientSecret`.
 */
export function clientAuthentication(
  library: typeof OAuth,
  {
    clientSecret,
    authentication,
  }: { readonly clientSecret?: string | undefined; readonly authentication?: OAuthClientAuthentication | undefined },
  methods: readonly string[],
): OAuth.ClientAuth {
  switch (authentication?.method) {
    case 'basic':
      return library.ClientSecretBasic(authentication.secret);
    case 'post':
      return library.ClientSecretPost(authentication.secret);
    case 'private-key': {
      const { key, kid } = authentication;
      return library.PrivateKeyJwt(kid === undefined ? key : { key, kid });
    }
    case 'tls':
      return library.TlsClientAuth();
    case undefined: {
      if (clientSecret === undefined) return library.None();
      return methods.includes('client_secret_basic') || !methods.includes('client_secret_post')
        ? library.ClientSecretBasic(clientSecret)
        : library.ClientSecretPost(clientSecret);
    }
  }
}
