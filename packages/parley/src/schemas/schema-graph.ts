import { isObject, type JsonObject, type JsonValue } from '../model/json.js';

/** Keywords whose schemas see the same value. */
const IN_PLACE = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', '$ref'];
const ANY_MEMBER = '*';
/** Keywords whose schemas see an item, any member, or the name of a member. */
const INNER: Readonly<Record<string, string>> = {
  items: '[]',
  prefixItems: '[]',
  contains: '[]',
  additionalItems: '[]',
  additionalProperties: ANY_MEMBER,
  propertyNames: 'name',
};

/**
 * An edge from a schema to a schema inside it. `member` is the member of the value that the inner schema checks;
 * undefined: the same value.
 */
interface Edge {
  readonly member: string | undefined;
  readonly target: object;
}

/** The cost of a schema, or the reason why it is unbounded. */
type SchemaCost = { readonly size: number; readonly branches: number } | { readonly problem: string };

const MOST_SIZE = 10_000;

/**
 * Computes the cost of a schema, with references resolved by `targetOf`. `size` is the number of schemas that check a
 * value before one repeats. `branches` is 0 if no schema refers to itself. Otherwise it is the number of checks of one
 * member that a check of its object can start. With more than 1, the work grows exponentially with the levels of the
 * data.
 */
export function schemaCost(root: JsonObject, targetOf: (ref: string) => JsonValue | undefined): SchemaCost {
  const graph = new SchemaGraph(root, targetOf);
  if (graph.hasEndlessPlace()) return { problem: 'must not lead to itself without a member or an item between' };
  const size = graph.size(root);
  return size > MOST_SIZE
    ? { problem: `must stand for at most ${MOST_SIZE} schemas, with all references` }
    : { size, branches: graph.branches() };
}

class SchemaGraph {
  readonly #edges = new Map<object, readonly Edge[]>();
  /** Schemas on a cycle. */
  readonly #recursive: ReadonlySet<object>;

  constructor(root: object, targetOf: (ref: string) => JsonValue | undefined) {
    const open: object[] = [root];
    for (const schema of open) {
      if (this.#edges.has(schema)) continue;
      const edges = edgesOf(schema as JsonObject, targetOf);
      this.#edges.set(schema, edges);
      open.push(...edges.map(({ target }) => target));
    }
    this.#recursive = this.#cycles(() => true);
  }

  /** True if a schema refers to itself for the same value, so that a check would not end. */
  hasEndlessPlace(): boolean {
    return this.#cycles(({ member }) => member === undefined).size > 0;
  }

  /** The number of schemas below a schema. A recursive one counts once. */
  size(root: object): number {
    const sizes = new Map<object, number>();
    const sizeOf = (schema: object, isRoot = false): number => {
      if (!isRoot && this.#recursive.has(schema)) return 1;
      const known = sizes.get(schema);
      if (known !== undefined) return known;
      const size = this.#from(schema).reduce((sum, { target }) => Math.min(sum + sizeOf(target), MOST_SIZE + 1), 1);
      sizes.set(schema, size);
      return size;
    };
    return Math.max(sizeOf(root, true), ...[...this.#recursive].map((schema) => sizeOf(schema, true)));
  }

  /** The largest number of paths from a recursive schema to recursive schemas of one member. */
  branches(): number {
    const most = [...this.#recursive].map((schema) => {
      const counts = this.#memberCounts(schema);
      const any = counts.get(ANY_MEMBER) ?? 0;
      return Math.max(any, ...[...counts].map(([name, count]) => (name.startsWith('.') ? count + any : count)));
    });
    return Math.max(0, ...most);
  }

  /** The number of paths to recursive schemas, by the member that they check. Follows edges for the same value. */
  #memberCounts(schema: object, known = new Map<object, ReadonlyMap<string, number>>()): ReadonlyMap<string, number> {
    const found = known.get(schema);
    if (found !== undefined) return found;
    const counts = new Map<string, number>();
    const add = (name: string, count: number) => counts.set(name, Math.min((counts.get(name) ?? 0) + count, MOST_SIZE));
    for (const { member, target } of this.#from(schema)) {
      if (member === undefined) for (const [name, count] of this.#memberCounts(target, known)) add(name, count);
      else if (this.#reaches(target)) add(member, this.#entries(target));
    }
    known.set(schema, counts);
    return counts;
  }

  /** The number of paths from a schema to recursive schemas, for the same value. At least 1. */
  #entries(schema: object): number {
    if (this.#recursive.has(schema)) return 1;
    const inner = this.#from(schema).filter(({ member }) => member === undefined);
    return Math.max(
      1,
      inner.reduce((sum, { target }) => Math.min(sum + this.#entries(target), MOST_SIZE), 0),
    );
  }

  /** True if this schema is recursive, or has a recursive schema below it. */
  #reaches(schema: object, seen = new Set<object>()): boolean {
    if (this.#recursive.has(schema)) return true;
    if (seen.has(schema)) return false;
    seen.add(schema);
    return this.#from(schema).some(({ target }) => this.#reaches(target, seen));
  }

  /** The schemas on cycles of such edges: Tarjan's components with more than one schema. */
  #cycles(counts: (edge: Edge) => boolean): ReadonlySet<object> {
    const order = new Map<object, number>();
    const lowest = new Map<object, number>();
    const stack: object[] = [];
    const isOpen = new Set<object>();
    const cyclic = new Set<object>();
    const visit = (schema: object): number => {
      const number = order.size;
      order.set(schema, number);
      stack.push(schema);
      isOpen.add(schema);
      let low = number;
      for (const edge of this.#from(schema)) {
        if (!counts(edge)) continue;
        const { target } = edge;
        if (target === schema) cyclic.add(schema);
        if (!order.has(target)) low = Math.min(low, visit(target));
        else if (isOpen.has(target)) low = Math.min(low, lowest.get(target) ?? order.get(target) ?? low);
        lowest.set(schema, low);
      }
      if (low === number) {
        const component = stack.splice(stack.lastIndexOf(schema));
        for (const one of component) isOpen.delete(one);
        if (component.length > 1) for (const one of component) cyclic.add(one);
      }
      return low;
    };
    for (const schema of this.#edges.keys()) if (!order.has(schema)) visit(schema);
    return cyclic;
  }

  #from(schema: object): readonly Edge[] {
    return this.#edges.get(schema) ?? [];
  }
}

function edgesOf(schema: JsonObject, targetOf: (ref: string) => JsonValue | undefined): readonly Edge[] {
  const edges: Edge[] = [];
  const add = (member: string | undefined, value: JsonValue | undefined) => {
    const targets: readonly JsonValue[] = Array.isArray(value) ? (value as readonly JsonValue[]) : [value ?? null];
    for (const target of targets) if (isObject(target)) edges.push({ member, target });
  };
  for (const [name, value] of Object.entries(schema)) {
    if (name === '$ref') add(undefined, targetOf(String(value)));
    else if (IN_PLACE.includes(name)) add(undefined, value);
    else if (INNER[name] !== undefined) add(INNER[name], value);
    else if (name === 'properties' && isObject(value))
      for (const [property, one] of Object.entries(value)) add(`.${property}`, one as JsonValue);
    else if ((name === 'dependentSchemas' || name === 'dependencies') && isObject(value))
      for (const one of Object.values(value)) add(undefined, one as JsonValue);
  }
  return edges;
}
