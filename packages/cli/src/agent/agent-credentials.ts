import type { AgentCard } from 'parley-a2a';
import type {
  CredentialProvider,
  CredentialRefusal,
  CredentialTarget,
  RequestCredentials,
  SchemeCredentials,
} from 'parley-a2a/credentials';
import { FLAG_NAMES, flagOf } from '../command-line/flags.js';
import type { Setting, Settings } from '../settings/settings.js';

const NAMES = ['auth', 'bearer', 'api-key'] as const;

/** The options of `AgentCredentials`. */
interface AgentCredentialsOptions {
  readonly settings: Settings;
  /** Client certificate, which the TLS connection sends. */
  readonly certificate?: SchemeCredentials | undefined;
  /** Informs the user about the use of credentials. */
  readonly tell: (text: string) => void;
}

/** The credentials from the settings, in the places that the card declares. */
export class AgentCredentials implements CredentialProvider {
  readonly #settings: Settings;
  readonly #certificate: SchemeCredentials | undefined;
  readonly #tell: (text: string) => void;
  #provider: Promise<CredentialProvider> | undefined;
  /** Credentials that were sent, such as the token of a login. */
  readonly #given = new Set<string>();
  /** True once credentials were sent. */
  sent = false;
  /** If true, an agent whose card declares no scheme gets no credentials. */
  onlyDeclared = false;

  constructor({ settings, certificate, tell }: AgentCredentialsOptions) {
    this.#settings = settings;
    this.#certificate = certificate;
    this.#tell = tell;
  }

  /** True if the settings have credentials. */
  get present(): boolean {
    return NAMES.some((name) => this.#settings.findSetting(name) !== undefined);
  }

  /** Credentials from an untrusted file, for an agent that another source sets. */
  get distrusted(): readonly Setting[] {
    const agents = (['endpoint', 'agent-card'] as const).map((name) => this.#settings.findSetting(name)?.source);
    return NAMES.flatMap((name) => this.#settings.findSetting(name) ?? []).filter(
      ({ source, distrust }) => distrust !== undefined && !agents.includes(source),
    );
  }

  /** Values that the tool never prints. */
  get secrets(): readonly string[] {
    const set = FLAG_NAMES.filter((name) => flagOf(name).secret === true).flatMap((name) => this.#settings.list(name));
    return [...set, ...this.#given].flatMap((value) => [value, ...partsOf(value)]);
  }

  async credentials(target: CredentialTarget): Promise<RequestCredentials> {
    if (this.onlyDeclared && Object.keys(target.card.securitySchemes ?? {}).length === 0) return {};
    const given = await (await this.#source(target.url)).credentials(target);
    const values = Object.values({ ...given.headers, ...given.query });
    this.sent ||= values.length > 0;
    for (const value of values) this.#given.add(value);
    return given;
  }

  async refused(target: CredentialTarget, refusal: CredentialRefusal): Promise<boolean> {
    return (await (await this.#source(target.url)).refused?.(target, refusal)) ?? false;
  }

  #source(url: string): Promise<CredentialProvider> {
    this.#provider ??= this.#load(url);
    return this.#provider;
  }

  async #load(url: string): Promise<CredentialProvider> {
    const [auth, bearer, key] = NAMES.map((name) => this.#settings.text(name));
    if (auth !== undefined) return { credentials: async () => ({ headers: { authorization: auth } }) };
    if (bearer === undefined && key === undefined && this.#certificate === undefined) return this.#login(url);
    const { apiKey, bearerToken, combineCredentials } = await import('parley-a2a/credentials');
    return combineCredentials(
      ...(this.#certificate === undefined ? [] : [this.#certificate]),
      ...(bearer === undefined ? [] : [bearerToken(bearer)]),
      ...(key === undefined ? [] : [apiKey(key)]),
    );
  }

  /** Returns the credentials of `auth login` for the origin of a URL. */
  async #login(url: string): Promise<CredentialProvider> {
    const { LoginStore } = await import('../login/login-store.js');
    const store = new LoginStore();
    const login = store.find(url);
    if (login === undefined) return { credentials: async () => ({}) };
    this.#settings.checkRecipients(`the login at ${login.issuer}`);
    const { loginCredentials } = await import('../login/login-credentials.js');
    const clientSecret = this.#settings.text('client-secret');
    const stepUp = { scopes: this.#settings.list('step-up'), tell: this.#tell };
    return loginCredentials(login, { store: store.tokensOf(url), clientSecret, stepUp });
  }
}

/** Returns the secrets in a header value: after a scheme, in a pair of Basic, in cookies. */
function partsOf(value: string): readonly string[] {
  const [, scheme = '', rest = ''] = /^([A-Za-z]+) +(\S.*)$/.exec(value) ?? [];
  if (/^basic$/i.test(scheme)) {
    const pair = Buffer.from(rest, 'base64').toString();
    return [rest, pair.slice(pair.indexOf(':') + 1)];
  }
  if (rest !== '') return [rest];
  return value.includes('=') ? value.split('; ').map((cookie) => cookie.slice(cookie.indexOf('=') + 1)) : [];
}

/** Returns the flags for the schemes of a card; `undefined` if it declares none. */
export function credentialHint(card: AgentCard, agentFlags: string): string | undefined {
  const ways = Object.values(card.securitySchemes ?? {}).flatMap((scheme) => {
    if (scheme.apiKeySecurityScheme !== undefined) return '--api-key <key> (or A2ACLI_API_KEY)';
    if (scheme.oauth2SecurityScheme !== undefined || scheme.openIdConnectSecurityScheme !== undefined)
      return `parley auth login${agentFlags}`;
    if (scheme.mtlsSecurityScheme !== undefined) return '--client-cert <path> --client-key <path>';
    if (scheme.httpAuthSecurityScheme === undefined) return [];
    if (/^bearer$/i.test(scheme.httpAuthSecurityScheme.scheme)) return '--bearer <token> (or A2ACLI_BEARER)';
    return `--auth "${scheme.httpAuthSecurityScheme.scheme} …" (or A2ACLI_AUTH)`;
  });
  return ways.length === 0 ? undefined : `the agent takes ${[...new Set(ways)].join(', or ')}`;
}
