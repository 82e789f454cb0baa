import type { Authenticator } from '../auth/authenticator.js';
import type { AgentHostOptions } from './agent-host.js';
import { ratesOf } from './limits/rate-limit-options.js';
import type { Rate } from './limits/rate-limiter.js';
import { agentAt } from './options/agents-by-path.js';
import type { TlsOptions } from './options/tls-options.js';

/** The agents of a server, and the options that protect them. */
export interface ProtectedServer extends Pick<AgentHostOptions, 'agents' | 'authenticator' | 'rateLimit' | 'push'> {
  /** Absent: plain HTTP. */
  readonly tls?: TlsOptions | undefined;
  /** The proxies whose forwarded headers are believed. */
  readonly trustProxy?: readonly string[] | undefined;
}

/** The protection of a server, as texts for the log. */
export interface Protection {
  readonly authentication: string;
  readonly transport: string;
  readonly rateLimit: string;
  readonly pushTargets: string;
}

/** Describes the protection of a server. The texts name schemes, proxies and destinations, and have no secret. */
export function protectionOf(server: ProtectedServer, openPaths: readonly string[]): Protection {
  return {
    authentication: authenticationOf(server, openPaths),
    transport: transportOf(server),
    rateLimit: rateLimitOf(server),
    pushTargets: pushTargetsOf(server),
  };
}

function authenticationOf({ agents, authenticator }: ProtectedServer, openPaths: readonly string[]): string {
  const paths = Object.keys(agents);
  const used = new Set(paths.map((path) => agentAt(agents, path).options.authenticator ?? authenticator));
  const schemes = [...new Set([...used].flatMap((one) => (one === undefined ? [] : schemesOf(one))))].join(', ');
  if (openPaths.length === 0) return schemes || 'an authenticator without a scheme';
  const open = openPaths.length === paths.length ? 'open to everyone' : `open to everyone: ${openPaths.join(', ')}`;
  return schemes === '' ? open : `${schemes}; ${open}`;
}

/** The names of the schemes in the card, or those of the challenges of an authenticator without a card. */
function schemesOf({ securitySchemes = {}, challenges }: Authenticator): readonly string[] {
  const names = Object.keys(securitySchemes);
  return names.length > 0 ? names : challenges.map((challenge) => challenge.split(' ', 1).join());
}

function transportOf({ tls, trustProxy = [] }: ProtectedServer): string {
  const own = tls === undefined ? 'plain HTTP' : 'TLS';
  return trustProxy.length === 0 ? own : `${own}, trusts proxies at ${trustProxy.join(', ')}`;
}

function rateLimitOf({ agents, rateLimit = {} }: ProtectedServer): string {
  const { perAddress, perPrincipal } = ratesOf(rateLimit);
  const hasOwn = Object.keys(agents).some((path) => agentAt(agents, path).options.ratePerPrincipal);
  const rates = [
    ...(perAddress ? [`${rateText(perAddress)} per address`] : []),
    ...(perPrincipal ? [`${rateText(perPrincipal)} per caller`] : []),
    ...(hasOwn ? ['agents have their own'] : []),
  ];
  return rates.join(', ') || 'none';
}

function rateText({ requests, windowMs }: Rate): string {
  return `${requests}/${windowMs / 1000}s`;
}

function pushTargetsOf({ push }: ProtectedServer): string {
  if (push === undefined) return 'none';
  const { allow = [], only, fetch } = push.options;
  if (fetch !== undefined) return 'checked by the fetch of the application';
  if (only !== undefined) return `only ${only.join(', ')}`;
  return ['public addresses', ...allow].join(', ');
}
