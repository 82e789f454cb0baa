import { challengesWithMetadata, refusalWithMetadata } from '../auth/challenge.js';
import type { ExchangeRequest } from '../bindings/http/exchange.js';
import type { AgentMount } from './agent-mount.js';
import type { HostEndpoint, HostExtension, HostView } from './host-extension.js';
import { errorAnswer, jsonAnswer } from './json-answer.js';
import type { Access } from './middleware/gate.js';
import { readOnly } from './middleware/method-filter.js';

const PATH = '/.well-known/oauth-protected-resource';
const MAX_AGE = 'public, max-age=300';

/** The path of the metadata of a mount (RFC 9728 §3.1). */
function metadataPath(mountPath: string): string {
  return mountPath === '/' ? PATH : `${PATH}${mountPath}`;
}

/** The same form of refusals, with the place of the metadata in each Bearer challenge (RFC 9728 §5.1). */
export function refusalsNaming(
  refuse: Access['refuse'],
  { mountPath, baseUrl }: { readonly mountPath: string; readonly baseUrl: (request: ExchangeRequest) => string },
): Access['refuse'] {
  return (refused) => {
    const base = baseUrl(refused.request);
    // A server that does not know its own address has no metadata.
    if (base === '') return refuse(refused);
    const url = `${base}${metadataPath(mountPath)}`;
    const challenges = challengesWithMetadata(refused.challenges, url);
    return refuse({ ...refused, error: refusalWithMetadata(refused.error, url), challenges });
  };
}

/** The metadata of all mounts that take tokens of authorization servers (RFC 9728 §3). All callers may read it. */
export const protectedResourceExtension: HostExtension = {
  endpoints: (host) => protectedMounts(host).map((mount) => endpointOf(mount, host)),
};

function protectedMounts({ mounts }: HostView): readonly AgentMount[] {
  return mounts.filter(({ agent }) => agent.authenticator?.protectedResource !== undefined);
}

function endpointOf(mount: AgentMount, { baseUrl }: HostView): HostEndpoint {
  const { authorizationServers = [], scopes = [] } = mount.agent.authenticator?.protectedResource ?? {};
  const exchange = readOnly(async (request) => {
    const base = baseUrl(request);
    if (base === '') return errorAnswer({ status: 404, message: 'The server does not know its own address' });
    const value = {
      resource: mount.path === '/' ? base : `${base}${mount.path}`,
      resource_name: mount.card(base).name,
      authorization_servers: authorizationServers,
      ...(scopes.length > 0 && { scopes_supported: scopes }),
      bearer_methods_supported: ['header'],
    };
    return jsonAnswer({ status: 200, value, headers: { 'cache-control': MAX_AGE } });
  });
  return { path: metadataPath(mount.path), exchange, access: 'open', without: ['start'] };
}
