import type { Exchange, ExchangeRequest } from '../../bindings/http/exchange.js';
import type { AgentMount } from '../agent-mount.js';
import { describedBaseServer, MONITORING } from '../base-server/described-base-server.js';
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

/** The description of a host, by path. `descriptionOnDemand` loads it. */
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
    ...(served ? [describedBaseServer(served.endpoint())] : []),
    ...(health ? [describedHealth] : []),
    ...(metrics ? [describedMetrics(baseServer === undefined ? OPERATING : MONITORING)] : []),
  ];
  return openApiEndpoints({ describers, baseUrl });
}
