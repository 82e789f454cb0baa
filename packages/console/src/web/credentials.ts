import type { AgentCard, CredentialProvider } from 'parley-a2a/client';
import type { RequestCredentials } from 'parley-a2a/credentials';
import { type OAuthLogin, tokensKey } from './oauth-login.js';

type SecurityScheme = NonNullable<AgentCard['securitySchemes']>[string];

/** A credential that the user has entered, or a sign-in whose tokens are stored beside it. */
export interface Credential extends RequestCredentials {
  readonly login?: OAuthLogin;
}

/** A way to sign in that the card offers. */
export type SignInForm =
  | { readonly kind: 'apiKey'; readonly name: string; readonly location: 'header' | 'query'; readonly about: string }
  | { readonly kind: 'bearer'; readonly about: string }
  | { readonly kind: 'basic'; readonly about: string }
  | { readonly kind: 'oauth'; readonly login: OAuthLogin; readonly about: string }
  | { readonly kind: 'other'; readonly about: string };

/** The ways to sign in that a card names, in its order. */
export function signInForms({ securitySchemes = {}, securityRequirements = [] }: AgentCard): readonly SignInForm[] {
  const required = new Set(securityRequirements.flatMap(({ schemes = {} }) => Object.keys(schemes)));
  const names = Object.keys(securitySchemes).filter((name) => required.size === 0 || required.has(name));
  return names.flatMap((name) => {
    const scheme = securitySchemes[name];
    if (scheme === undefined) return [];
    const scopes = securityRequirements.flatMap(({ schemes = {} }) => schemes[name]?.list ?? []);
    const logins = oauthLogins(name, scheme, [...new Set(scopes)]);
    const forms = logins.map((login) => ({ kind: 'oauth' as const, login, about: name }));
    return [...forms, signInForm(name, scheme)];
  });
}

/** The sign-ins of a scheme that need a person. */
function oauthLogins(scheme: string, described: SecurityScheme, scopes: readonly string[]): readonly OAuthLogin[] {
  if (described.openIdConnectSecurityScheme !== undefined) {
    const issuer = issuerOf(described.openIdConnectSecurityScheme.openIdConnectUrl);
    return (['authorizationCode', 'deviceCode'] as const).map((flow) => ({
      flow,
      scheme,
      issuer,
      scopes,
      clientId: '',
    }));
  }
  if (described.oauth2SecurityScheme === undefined) return [];
  const { flows, oauth2MetadataUrl } = described.oauth2SecurityScheme;
  const login = { scheme, scopes, clientId: '' };
  if (flows.authorizationCode !== undefined) {
    const { tokenUrl: token, authorizationUrl: authorization } = flows.authorizationCode;
    const issuer = issuerOf(oauth2MetadataUrl ?? token);
    return [{ ...login, flow: 'authorizationCode', issuer, endpoints: { token, authorization } }];
  }
  if (!(flows.deviceCode !== undefined)) return [];
  const { tokenUrl: token, deviceAuthorizationUrl: deviceAuthorization } = flows.deviceCode;
  const issuer = issuerOf(oauth2MetadataUrl ?? token);
  return [{ ...login, flow: 'deviceCode', issuer, endpoints: { token, deviceAuthorization } }];
}

const WELL_KNOWN = '/.well-known/';

/** The issuer of a metadata document. For any other url: its origin. */
function issuerOf(url: string): string {
  const at = url.indexOf(WELL_KNOWN);
  if (at < 0) return URL.parse(url)?.origin ?? url;
  const rest = url.slice(at + WELL_KNOWN.length);
  return `${url.slice(0, at)}${rest.includes('/') ? rest.slice(rest.indexOf('/')) : ''}`;
}

function signInForm(name: string, scheme: SecurityScheme): SignInForm {
  if (scheme.apiKeySecurityScheme !== undefined) {
    const { name: field, location, description = name } = scheme.apiKeySecurityScheme;
    // A page cannot set cookies of other origins.
    if (location === 'cookie') return { kind: 'other', about: `${name}: a cookie` };
    return { kind: 'apiKey', name: field, location, about: description };
  }
  if (scheme.httpAuthSecurityScheme !== undefined) {
    const { scheme: type, description = name } = scheme.httpAuthSecurityScheme;
    const kind = (['bearer', 'basic'] as const).find((one) => one === type.toLowerCase()) ?? 'other';
    return { kind, about: description };
  }
  if (scheme.mtlsSecurityScheme !== undefined) return { kind: 'other', about: `${name}: a client certificate` };
  // A token from another program works for OAuth and OpenID Connect.
  return { kind: 'bearer', about: `${name}: an access token` };
}

/** The credential that the user has entered into a form. */
export function credentialOf(form: SignInForm, secret: string, user = ''): Credential {
  if (form.kind === 'apiKey') {
    return form.location === 'query'
      ? { query: { [form.name]: secret } }
      : { headers: { [form.name.toLowerCase()]: secret } };
  }
  const basic = () => btoa(String.fromCharCode(...new TextEncoder().encode(`${user}:${secret}`)));
  return { headers: { authorization: form.kind === 'basic' ? `Basic ${basic()}` : `Bearer ${secret}` } };
}

/** The provider of a client for a credential. The code for OAuth is loaded with the first of its calls. */
export function credentialProvider({ login, ...typed }: Credential, path: string): CredentialProvider {
  if (login === undefined) return { credentials: async () => typed };
  let loading: Promise<CredentialProvider> | undefined;
  const provider = (): Promise<CredentialProvider> => {
    loading ??= import('./oauth-sign-in.js').then(({ keptLogin }) => keptLogin(login, path));
    return loading;
  };
  return {
    credentials: async (target) => (await provider()).credentials(target),
    refused: async (target, refusal) => (await (await provider()).refused?.(target, refusal)) ?? false,
  };
}

/** The header in which `parley console` receives a credential for the agent that it calls. */
const FORWARDED_HEADER = 'parley-console-credential';

/** A provider whose credentials go to the agent through the server of this page. */
export function forwardedCredentials(provider: CredentialProvider): CredentialProvider {
  const sent = new WeakMap<RequestCredentials, RequestCredentials>();
  return {
    credentials: async (target) => {
      const credential = await provider.credentials(target);
      const forwarded = { headers: { [FORWARDED_HEADER]: encodeURIComponent(JSON.stringify(credential)) } };
      sent.set(forwarded, credential);
      return forwarded;
    },
    refused: async (target, refusal) => {
      const credentials = sent.get(refusal.credentials) ?? {};
      return (await provider.refused?.(target, { ...refusal, credentials })) ?? false;
    },
  };
}

const keyOf = (path: string): string => `parley-console:credential:${path}`;

/** The stored credential of an agent in this tab. */
export function keptCredential(path: string): Credential | undefined {
  const text = sessionStorage.getItem(keyOf(path));
  return text === null ? undefined : (JSON.parse(text) as Credential);
}

/** Stores the credential of an agent until the tab is closed. */
export function keepCredential(path: string, credential: Credential | undefined): void {
  if (credential === undefined) {
    sessionStorage.removeItem(keyOf(path));
    sessionStorage.removeItem(tokensKey(path));
  } else sessionStorage.setItem(keyOf(path), JSON.stringify(credential));
}
