import type { Exchange, ExchangeRequest } from '../../bindings/http/exchange.js';
import type { AgentMount } from '../agent-mount.js';
import type { HostedBaseServer } from '../base-server/hosted-base-server.js';
import { simplestFirst } from '../landing-page.js';
import { describedHealth } from '../observability/health-endpoints.js';
import { describedMetrics } from '../observability/metrics-endpoint.js';
import { describedListing } from '../origin-listing.js';
import { OPERATING } from './described-answers.js';
import { describedMount } from './described-mount.js';
import { openApiEndpoints } from './openapi-endpoints.js';

/** What a host of agents serves. */
export interface DescribedHost {
  readonly mounts: readonly AgentMount[];
  readonly baseServer: HostedBaseServer | undefined;
  readonly health: boolean;
  readonly metrics: boolean;
  /** The base url to tell a client, or "" while there is none. */
  readonly baseUrl: (request: ExchangeRequest) => string;
}

/** The description of a host for those who ask it, by path. A host gets it given, so that one without it does not carry it. */
export function hostDescription({
  mounts,
  baseServer,
  health,
  metrics,
  baseUrl,
}: DescribedHost): ReadonlyMap<string, Exchange> {
  const served = mounts.find(({ path }) => path === baseServer?.path);
  const describers = [
    describedListing,
    ...simplestFirst(mounts).map(describedMount),
    ...(baseServer && served ? [baseServer.describe(served)] : []),
    ...(health ? [describedHealth] : []),
    ...(metrics ? [describedMetrics(baseServer?.monitoring ?? OPERATING)] : []),
  ];
  return openApiEndpoints({ describers, baseUrl });
}
