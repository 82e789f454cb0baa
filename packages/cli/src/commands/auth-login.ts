import type { AgentCard, OAuthFlows, SecurityScheme } from 'parley-a2a';
import type { OAuthEndpoints } from 'parley-a2a/credentials';
import { credentialHint } from '../agent/agent-credentials.js';
import { agentFlags } from '../agent/agent-flags.js';
import { agentOptions } from '../agent/agent-options.js';
import { agentTarget } from '../agent/agent-target.js';
import type { Invocation } from '../command-line/invocation.js';
import { type CliError, usageError } from '../failure/cli-error.js';
import { loginCredentials } from '../login/login-credentials.js';
import { type Login, LoginStore } from '../login/login-store.js';
import type { Settings } from '../settings/settings.js';

/** Logs in by OAuth, with a device code or a client secret, and stores the token for later calls. */
export async function run(invocation: Invocation): Promise<number> {
  const { settings, output } = invocation;
  settings.checkRecipients('your login');
  const target = agentTarget(invocation);
  const { connect } = await agentOptions(invocation, target);
  if (typeof target !== 'string') throw usageError('auth login needs the URL of the agent, not a file or an endpoint');
  const { fetchAgentCard } = await import('parley-a2a/client');
  const card = await fetchAgentCard(target, connect);
  const login = await loginFor(card, { settings, target, flags: agentFlags(invocation) });
  const { origin } = new URL(target);
  const scopeSource =
    settings.findSetting('scope') === undefined ? ' (the card asks for them; --scope names others)' : '';
  output.note(`Signing in at ${login.issuer}`);
  output.note(`For the agent: ${origin}`);
  output.note(`Scopes: ${login.scopes.length === 0 ? 'none' : `${login.scopes.join(' ')}${scopeSource}`}`);
  const store = new LoginStore();
  store.keep(target, login);
  const credentials = loginCredentials(login, {
    store: store.tokensOf(target),
    clientSecret: settings.text('client-secret'),
    stepUp: { scopes: [], tell: output.note.bind(output) },
    show: ({ verificationUri, verificationUriComplete, userCode }) => {
      output.note(`Open ${verificationUriComplete ?? verificationUri} and enter the code ${userCode}`);
    },
  });
  const timeoutMs = settings.duration('timeout');
  await credentials.credentials({
    card: { ...card, securityRequirements: [{ schemes: { [login.scheme]: { list: [...login.scopes] } } }] },
    url: target,
    ...(timeoutMs !== undefined && { signal: AbortSignal.timeout(timeoutMs) }),
  });
  if (output.json) output.document({ agent: origin, issuer: login.issuer, scheme: login.scheme, flow: login.flow });
  else {
    output.field('Agent', origin);
    output.field('Signed in at', login.issuer);
    output.field('Scheme', login.scheme);
    output.note(`The token is stored in ${store.path}.`);
  }
  return 0;
}

interface LoginWish {
  readonly settings: Settings;
  readonly target: string;
  /** The flags that select the agent, for hints. */
  readonly flags: string;
}

/** A scheme that uses tokens: OAuth with its flow, or OpenID Connect with its issuer. */
interface Offer {
  readonly scheme: string;
  readonly flows?: OAuthFlows;
  readonly issuer?: string;
}

function offersOf(scheme: string, described: SecurityScheme): Offer[] {
  if (described.oauth2SecurityScheme !== undefined) return [{ scheme, flows: described.oauth2SecurityScheme.flows }];
  if (described.openIdConnectSecurityScheme === undefined) return [];
  const { openIdConnectUrl } = described.openIdConnectSecurityScheme;
  if (!URL.canParse(openIdConnectUrl)) return [];
  return [{ scheme, issuer: openIdConnectUrl.replace(/\/\.well-known\/openid-configuration$/, '') }];
}

async function loginFor(card: AgentCard, { settings, target, flags }: LoginWish): Promise<Login> {
  const wanted = settings.text('scheme');
  const all = Object.entries(card.securitySchemes ?? {}).flatMap(([scheme, described]) => offersOf(scheme, described));
  const offers = all.filter(({ scheme }) => wanted === undefined || wanted === scheme);
  if (offers.length === 0) throw noLogin(card, all, { wanted, flags });
  const clientId = settings.text('client-id');
  if (clientId === undefined)
    throw usageError(
      '--client-id is missing: the id by which the authorization server knows this client',
      'register a client there, or ask the operator of the agent for an id',
    );
  const hasSecret = settings.findSetting('client-secret') !== undefined;
  const login = offers.map((offer) => loginBy(offer, clientId, hasSecret)).find((one) => one !== undefined);
  if (login === undefined) {
    const offered = offers.map(({ scheme, flows = {} }) => `${scheme} (${Object.keys(flows).join(', ')})`).join(', ');
    const hint = offered === '' ? undefined : `the card has ${offered}; a client secret is for clientCredentials`;
    throw usageError(
      'the card has no OAuth or OpenID Connect scheme for a device code or for client credentials',
      hint,
    );
  }
  const required = (card.securityRequirements ?? []).flatMap(({ schemes = {} }) => schemes[login.scheme]?.list ?? []);
  const scopes = settings.findSetting('scope') === undefined ? [...new Set(required)] : settings.list('scope');
  const named = settings.text('issuer');
  if (named !== undefined) return { ...login, ...(await findIssuer(named, login.endpoints)), scopes };
  // A card must not choose which server gets a secret.
  const own = new URL(target).origin;
  const isOwn =
    new URL(login.issuer).origin === own && (login.endpoints === undefined || shareOrigin(own, login.endpoints));
  if (hasSecret && !isOwn)
    throw usageError(
      `the card sends its callers to ${login.issuer} for tokens, which is not its own origin`,
      `--issuer ${login.issuer} allows to send your client secret there`,
    );
  // The card chose the issuer, while the user only chose the agent.
  return { ...login, trustedOrigins: [own], scopes };
}

/** Makes the error for an agent without a scheme for a login, or without the scheme of `--scheme`. */
function noLogin(
  card: AgentCard,
  offers: readonly Offer[],
  { wanted, flags }: { readonly wanted: string | undefined; readonly flags: string },
): CliError {
  const names = offers.map(({ scheme }) => scheme).join(', ');
  if (names !== '') return usageError(`the card has no scheme ${wanted} for a login`, `it has ${names}`);
  const hint = credentialHint(card, flags) ?? 'the agent asks for no credential: call it without a login';
  return usageError(`${card.name} takes no login: its card has no OAuth or OpenID Connect scheme`, hint);
}

/**
 * Returns an issuer that the user named, with the endpoints of its discovery document. Without such a document, the
 * endpoints of the card are used if they are at the origin of the issuer.
 */
async function findIssuer(
  issuer: string,
  ofCard: OAuthEndpoints | undefined,
): Promise<Pick<Login, 'issuer' | 'endpoints'>> {
  if (URL.parse(issuer) === null) throw usageError(`--issuer is a URL, not "${issuer}"`);
  const { discoverEndpoints } = await import('parley-a2a/credentials');
  const discovered = await discoverEndpoints(issuer);
  if (discovered !== undefined) return { issuer, endpoints: discovered };
  if (ofCard !== undefined && shareOrigin(issuer, ofCard)) return { issuer, endpoints: ofCard };
  throw usageError(
    `${issuer} has no discovery document, and the endpoints of the card are on another origin`,
    'check the spelling of the issuer',
  );
}

/** True if every endpoint has the origin of an issuer. */
function shareOrigin(issuer: string, endpoints: OAuthEndpoints): boolean {
  return Object.values(endpoints).every((endpoint) => URL.parse(endpoint)?.origin === new URL(issuer).origin);
}

function loginBy(
  { scheme, flows = {} as OAuthFlows, issuer }: Offer,
  clientId: string,
  hasSecret: boolean,
): (Omit<Login, 'scopes' | 'endpoints'> & { readonly endpoints?: OAuthEndpoints }) | undefined {
  if (issuer !== undefined) return { flow: hasSecret ? 'clientCredentials' : 'deviceCode', scheme, clientId, issuer };
  if (flows.clientCredentials !== undefined && hasSecret && URL.canParse(flows.clientCredentials.tokenUrl)) {
    const { tokenUrl: token } = flows.clientCredentials;
    return { flow: 'clientCredentials', scheme, clientId, issuer: new URL(token).origin, endpoints: { token } };
  }
  if (!(flows.deviceCode !== undefined && URL.canParse(flows.deviceCode.tokenUrl))) return undefined;
  const { tokenUrl: token, deviceAuthorizationUrl: deviceAuthorization } = flows.deviceCode;
  const endpoints = { token, deviceAuthorization };
  return { flow: 'deviceCode', scheme, clientId, issuer: new URL(token).origin, endpoints };
}
