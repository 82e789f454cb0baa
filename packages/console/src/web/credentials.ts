import type { AgentCard, CredentialProvider } from 'parley-a2a/client';

type SecurityScheme = NonNullable<AgentCard['securitySchemes']>[string];

/** A credential that the user has typed. */
export interface Credential {
  /** Headers of calls. Names are lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

/** A way to sign in that the card offers. */
export type SignInForm =
  | { readonly kind: 'apiKey'; readonly name: string; readonly location: 'header' | 'query'; readonly about: string }
  | { readonly kind: 'bearer'; readonly about: string }
  | { readonly kind: 'basic'; readonly about: string }
  | { readonly kind: 'other'; readonly about: string };

/** The ways to sign in that a card names, in its order. */
export function signInForms({ securitySchemes = {}, securityRequirements = [] }: AgentCard): readonly SignInForm[] {
  const required = new Set(securityRequirements.flatMap(({ schemes = {} }) => Object.keys(schemes)));
  const names = Object.keys(securitySchemes).filter((name) => required.size === 0 || required.has(name));
  return names.flatMap((name) => {
    const scheme = securitySchemes[name];
    return scheme === undefined ? [] : [signInForm(name, scheme)];
  });
}

function signInForm(name: string, scheme: SecurityScheme): SignInForm {
  if ('apiKeySecurityScheme' in scheme) {
    const { name: field, location, description = name } = scheme.apiKeySecurityScheme;
    // A page cannot set cookies of other programs.
    if (location === 'cookie') return { kind: 'other', about: `${name}: a cookie` };
    return { kind: 'apiKey', name: field, location, about: description };
  }
  if ('httpAuthSecurityScheme' in scheme) {
    const { scheme: type, description = name } = scheme.httpAuthSecurityScheme;
    const kind = (['bearer', 'basic'] as const).find((one) => one === type.toLowerCase()) ?? 'other';
    return { kind, about: description };
  }
  if ('mtlsSecurityScheme' in scheme) return { kind: 'other', about: `${name}: a client certificate` };
  // A token from elsewhere works for both.
  return { kind: 'bearer', about: `${name}: an access token` };
}

/** The credential of what the user has typed into a form. */
export function credentialOf(form: SignInForm, secret: string, user = ''): Credential {
  if (form.kind === 'apiKey') {
    return form.location === 'query'
      ? { query: { [form.name]: secret } }
      : { headers: { [form.name.toLowerCase()]: secret } };
  }
  const basic = () => btoa(String.fromCharCode(...new TextEncoder().encode(`${user}:${secret}`)));
  return { headers: { authorization: form.kind === 'basic' ? `Basic ${basic()}` : `Bearer ${secret}` } };
}

/** The provider of a client for a typed credential. */
export function credentialProvider(credential: Credential): CredentialProvider {
  return { credentials: async () => credential };
}

/** The header in which `parley console` takes a credential for the agent that it calls. */
const FORWARDED_HEADER = 'parley-console-credential';

/** A provider whose credentials go to the agent through the server of this page. */
export function forwardedCredentials(provider: CredentialProvider): CredentialProvider {
  return {
    ...provider,
    credentials: async (target) => {
      const credential = await provider.credentials(target);
      return { headers: { [FORWARDED_HEADER]: encodeURIComponent(JSON.stringify(credential)) } };
    },
  };
}

const keyOf = (path: string): string => `parley-console:credential:${path}`;

/** The credential of an agent in this tab. */
export function keptCredential(path: string): Credential | undefined {
  const text = sessionStorage.getItem(keyOf(path));
  return text === null ? undefined : (JSON.parse(text) as Credential);
}

/** Keeps the credential of an agent until the tab is closed. */
export function keepCredential(path: string, credential: Credential | undefined): void {
  if (credential === undefined) sessionStorage.removeItem(keyOf(path));
  else sessionStorage.setItem(keyOf(path), JSON.stringify(credential));
}
