import type { Authenticator } from '../../auth/authenticator.js';
import { requirementsOf } from '../../auth/requirements.js';
import { operationId } from '../../bindings/http/described-agent.js';
import type { Components } from '../../openapi/components.js';
import type { DescribedOperation, PathItem } from '../../openapi/document.js';
import { describedScheme } from '../../openapi/security-scheme.js';
import type { Describe } from './server-document.js';

/** The authenticators of an endpoint of the host: any one is enough. Empty: all callers may use it. */
type AuthenticatorsAt = (path: string) => readonly Authenticator[];

type Security = NonNullable<DescribedOperation['security']>;

/** The same endpoints with the credentials that the host asks for. Operations that name their own keep them. */
export function withHostSecurity(describe: Describe, authenticatorsAt: AuthenticatorsAt): Describe {
  return (components) => {
    const group = describe(components);
    const paths = Object.entries(group.paths).map(([path, item]) => [
      path,
      secureItem(item, securityOf(authenticatorsAt(path), components)),
    ]);
    return { ...group, paths: Object.fromEntries(paths) };
  };
}

/** Each alternative once. Two authenticators may have different schemes of one name. */
function securityOf(authenticators: readonly Authenticator[], components: Components): Security {
  const alternatives = authenticators.flatMap((one) => {
    const { securitySchemes = {} } = one;
    const nameOf = (name: string) => {
      const scheme = securitySchemes[name];
      const wanted = operationId('host', name);
      return scheme === undefined ? wanted : components.addSecurityScheme(wanted, describedScheme(scheme));
    };
    return requirementsOf(one).map(({ schemes = {} }) =>
      Object.fromEntries(Object.entries(schemes).map(([name, { list = [] }]) => [nameOf(name), list])),
    );
  });
  return [...new Map(alternatives.map((one) => [JSON.stringify(one), one])).values()];
}

function secureItem(item: PathItem, security: Security): PathItem {
  if (security.length === 0) return item;
  return Object.fromEntries(Object.entries(item).map(([method, operation]) => [method, { security, ...operation }]));
}
