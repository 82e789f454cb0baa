import type { Exchange } from '../../bindings/http/exchange.js';
import type { HostView } from '../host-extension.js';
import { simplestFirst } from '../landing-page.js';
import { describedMetrics } from '../observability/metrics-endpoint.js';
import { describedDocuments } from './described-documents.js';
import { describedHealth } from './described-health.js';
import { describedListing } from './described-listing.js';
import { describedMount } from './described-mount.js';
import { openApiEndpoints } from './openapi-endpoints.js';
import { withHostSecurity } from './protected-endpoints.js';
import type { Describe } from './server-document.js';

/** The description of a host, by path. `openApiExtension` loads it. The first group that describes a path wins. */
export async function hostDescription(host: HostView): Promise<ReadonlyMap<string, Exchange>> {
  const extensions = await Promise.all(host.extensions.map(({ describe }) => describe?.(host)));
  const ofHost = (describe: Describe) => withHostSecurity(describe, host.authenticatorsAt);
  const describers = [
    ofHost(describedListing),
    ...simplestFirst(host.mounts).map(describedMount),
    ...extensions.filter((describe) => describe !== undefined).map(ofHost),
    ofHost(describedDocuments),
    ...(host.serves('/healthz') ? [ofHost(describedHealth)] : []),
    ...(host.metrics === undefined ? [] : [ofHost(describedMetrics())]),
  ];
  return openApiEndpoints({ describers, baseUrl: host.baseUrl });
}
