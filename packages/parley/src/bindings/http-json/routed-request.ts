import type { Route } from '../../codec/wire-codec.js';

/** A request as its route carries it. */
export interface RoutedRequest {
  /** Below the interface url, begins with `/`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Distributes the members of a request over path, query and body. */
export function routed({ path, body }: Route, value: Readonly<Record<string, unknown>>): RoutedRequest {
  const rest: Record<string, unknown> = { ...value };
  const segments = path.map((segment) =>
    segment.replace(/\{(\w+)\}/, (_, name: string) => {
      const member = String(rest[name] ?? '');
      delete rest[name];
      return encodeURIComponent(member);
    }),
  );
  // A tenant with a slash has no path form (Spec §11.5); it stays a member.
  if (typeof rest.tenant === 'string' && rest.tenant !== '' && !rest.tenant.includes('/')) {
    segments.unshift(encodeURIComponent(rest.tenant));
    delete rest.tenant;
  }
  const whole = `/${segments.join('/')}`;
  if (body !== 'none') return { path: whole, query: {}, body: JSON.stringify(rest) };
  const query: Record<string, string> = {};
  for (const [name, member] of Object.entries(rest)) if (member !== undefined) query[name] = String(member);
  return { path: whole, query, body: undefined };
}
