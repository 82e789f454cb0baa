/** The paths of one agent below the origin. */
export interface MountPaths {
  readonly card: string;
  /** The path of the card for clients of 0.2. */
  readonly oldCard: string;
  readonly jsonRpc: string;
  readonly httpJson: string;
  /** Bindings of extensions have their paths below this one. */
  readonly own: string;
  /** The files of the agent, if the host takes files. */
  readonly files: string;
  /** The callback for authorizations. */
  readonly authorizations: string;
}

/** The paths of an agent. At the root the bindings have paths of their own, so that no route meets another agent. */
export function mountPaths(path: string): MountPaths {
  const below = path === '/' ? '' : path;
  const own = path === '/' ? '/a2a' : path;
  return {
    card: `${below}/.well-known/agent-card.json`,
    oldCard: `${below}/.well-known/agent.json`,
    jsonRpc: path === '/' ? `${own}/jsonrpc` : own,
    httpJson: path === '/' ? `${own}/rest` : own,
    own,
    files: `${own}/files`,
    authorizations: `${own}/authorizations`,
  };
}

/** The path of another agent whose endpoints an agent at this place would take. `undefined` if there is none. */
export function shadowedMount(place: string, others: readonly string[]): string | undefined {
  return others.find((other) => {
    if (other === place) return false;
    const { jsonRpc, httpJson, authorizations } = mountPaths(other);
    if (isAtOrAbove(place, authorizations) && !isAtOrAbove(place, other)) return true;
    // An agent at the root has everything below it, but others may have paths beside its own.
    return other === '/' && [jsonRpc, httpJson].some((path) => isAtOrAbove(place, path) || isAtOrAbove(path, place));
  });
}

function isAtOrAbove(path: string, other: string): boolean {
  return path !== '/' && (path === other || other.startsWith(`${path}/`));
}
