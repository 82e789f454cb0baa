import type { AgentCard, CredentialProvider } from 'parley-a2a/client';
import {
  authorizationCode,
  type DeviceCodePrompt,
  deviceCode,
  type TokenStore,
  type Tokens,
} from 'parley-a2a/credentials';
import { CONSOLE_PATH, fetchHere } from './launch.js';
import { type OAuthLogin, redirectUri, tokensKey, untilReturned } from './oauth-login.js';

/** The endpoint that sends requests to the authorization servers of cards. A command's server has one per agent. */
const RELAY_PATH = `${CONSOLE_PATH}/oauth`;

/** The steps of a sign-in for the user. */
interface SignInSteps {
  /** Shows a link to a page of the authorization server. */
  readonly onPage: (url: string) => void;
  /** Shows a code to enter at a page of the authorization server. */
  readonly onCode: (prompt: DeviceCodePrompt) => void;
  readonly signal: AbortSignal;
}

interface SignedAgent {
  readonly path: string;
  readonly card: AgentCard;
}

/** Signs in. The tokens are kept in the tab. */
export async function signInBy(login: OAuthLogin, { path, card }: SignedAgent, steps: SignInSteps): Promise<void> {
  const { signal } = steps;
  const provider = providerOf(login, path, {
    authorize: (url, waiting) => {
      steps.onPage(url);
      return untilReturned(url, AbortSignal.any([signal, waiting]));
    },
    show: steps.onCode,
  });
  const { scheme, scopes } = login;
  const securityRequirements = [{ schemes: { [scheme]: { list: [...scopes] } } }];
  await provider.credentials({ card: { ...card, securityRequirements }, url: location.origin, signal });
}

/** The provider of a stored sign-in. It renews tokens, and never asks the user. */
export function keptLogin(login: OAuthLogin, path: string): CredentialProvider {
  return providerOf(login, path, { authorize: hasEnded, show: hasEnded });
}

function hasEnded(): never {
  throw Object.assign(new Error('The sign-in has ended. Sign in again'), { code: 'UNAUTHENTICATED' });
}

interface Asking {
  readonly authorize: (url: string, signal: AbortSignal) => Promise<string>;
  readonly show: (prompt: DeviceCodePrompt) => void;
}

function providerOf(login: OAuthLogin, path: string, { authorize, show }: Asking): CredentialProvider {
  const { flow, scheme, issuer, endpoints, scopes, clientId } = login;
  const options = {
    issuer,
    clientId,
    scheme,
    scopes,
    store: tokensOf(path),
    fetch: relayFor(path),
    endpointOrigins: Object.values(endpoints ?? {}).flatMap((url) => URL.parse(url)?.origin ?? []),
    ...(endpoints !== undefined && { endpoints }),
  };
  return flow === 'deviceCode'
    ? deviceCode({ ...options, show })
    : authorizationCode({ ...options, redirectUri, authorize });
}

/** The content security policy of the page allows no other origin, so its server sends these requests. */
function relayFor(path: string): (url: string, init: RequestInit) => Promise<Response> {
  const relay = `${RELAY_PATH}?agent=${encodeURIComponent(path)}`;
  const headers = { 'content-type': 'application/json' };
  return (url, { body, signal }) => {
    const asked = { url, ...(body != null && { body: String(body) }) };
    return fetchHere(relay, { method: 'POST', headers, body: JSON.stringify(asked), signal: signal ?? null });
  };
}

/** The tokens of an agent, for the life of the tab. */
function tokensOf(path: string): TokenStore {
  const load = (): Record<string, Tokens> => JSON.parse(sessionStorage.getItem(tokensKey(path)) ?? '{}');
  return {
    load: async (key) => load()[key],
    save: async (key, tokens) => sessionStorage.setItem(tokensKey(path), JSON.stringify({ ...load(), [key]: tokens })),
  };
}
