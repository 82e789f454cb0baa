import type { Authenticator } from '../../auth/authenticator.js';
import { requirementsOf } from '../../auth/requirements.js';
import { operationId } from '../../bindings/http/described-agent.js';
import type { DescribedOperation, PathItem, Schema } from '../../openapi/document.js';
import { describedScheme } from './security-schemes.js';
import type { Describe } from './server-document.js';

/** The authenticators of an endpoint of the host: any one is enough. Empty: all callers may use it. */
export type AuthenticatorsAt = (path: string) => readonly Authenticator[];

type Security = NonNullable<DescribedOperation['security']>;

/** The same endpoints with the credentials that the host asks for. Operations that name their own keep them. */
export function withHostSecurity(describe: Describe, authenticatorsAt: AuthenticatorsAt): Describe {
  return (components) => {
    const group = describe(components);
    const securitySchemes: Record<string, Schema> = { ...group.securitySchemes };
    const paths = Object.entries(group.paths).map(([path, item]) => {
      const authenticators = authenticatorsAt(path);
      for (const { securitySchemes: schemes = {} } of authenticators) {
        for (const [name, scheme] of Object.entries(schemes)) securitySchemes[hostName(name)] = describedScheme(scheme);
      }
      return [path, secured(item, securityOf(authenticators))];
    });
    return { ...group, paths: Object.fromEntries(paths), securitySchemes };
  };
}

function hostName(scheme: string): string {
  return operationId('host', scheme);
}

function securityOf(authenticators: readonly Authenticator[]): Security {
  return authenticators.flatMap((one) =>
    requirementsOf(one).map(({ schemes = {} }) =>
      Object.fromEntries(Object.entries(schemes).map(([name, { list = [] }]) => [hostName(name), list])),
    ),
  );
}

function secured(item: PathItem, security: Security): PathItem {
  if (security.length === 0) return item;
  return Object.fromEntries(Object.entries(item).map(([method, operation]) => [method, { security, ...operation }]));
}
