import type { SecurityScheme } from '../../packages/parley/src/exports/index.js';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import type { Authentication, Authenticator, Credentials } from '../../packages/parley/src/exports/server.js';
import { CLIENT_SECRET } from './authorization-server.js';

/** An agent on a port that answers with who its caller is. */
export interface ProtectedAgent {
  readonly url: string;
  /** Every credential that arrived, in order; `undefined` for a request without. */
  readonly presented: (string | undefined)[];
  close(): Promise<void>;
}

/** Serves such an agent. `userOf` returns the name of a caller, or undefined for an unknown one. */
export async function startProtectedAgent({
  securitySchemes,
  presentedBy = (credentials) => credentials.header('authorization'),
  userOf,
}: {
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
  readonly presentedBy?: (credentials: Credentials) => string | undefined;
  readonly userOf: (presented: string) => Promise<string | undefined> | string | undefined;
}): Promise<ProtectedAgent> {
  const presented: (string | undefined)[] = [];
  const authenticator: Authenticator = {
    challenges: ['Bearer realm="agent"'],
    securitySchemes,
    async authenticate(credentials): Promise<Authentication> {
      const found = presentedBy(credentials);
      presented.push(found);
      const name = found === undefined ? undefined : await userOf(found);
      if (name !== undefined) return { kind: 'user', user: { id: `test|${name}`, name } };
      return { kind: 'refused', reason: 'unknown', challenges: ['Bearer realm="agent", error="invalid_token"'] };
    },
  };
  const server = createA2AServer({
    authenticator,
    agent: { replies: 'either', execute: async ({ user }, events) => void events.message(`called by ${user?.name}`) },
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  const { url } = await server.listen(0);
  return { url, presented, close: () => server.close({ graceMs: 0 }) };
}

/** Introspects a bearer token at the authorization server (RFC 7662): its client and its scopes. */
export function introspectToken(issuer: string): (header: string) => Promise<string | undefined> {
  const authorization = `Basic ${btoa(`agent:${encodeURIComponent(CLIENT_SECRET)}`)}`;
  return async (header) => {
    const token = /^Bearer (\S+)$/.exec(header)?.[1];
    if (token === undefined) return undefined;
    const response = await fetch(`${issuer}/token/introspection`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ token }),
    });
    const said = (await response.json()) as { active: boolean; client_id?: string; sub?: string; scope?: string };
    return said.active ? [said.client_id, said.sub, said.scope].filter(Boolean).join(' / ') : undefined;
  };
}
