import type { WireCodec, WireRoute } from '../../codec/wire-codec.js';

/** A route that matches a path, and the values of its variables. */
export interface RouteMatch {
  readonly codec: WireCodec;
  readonly route: WireRoute;
  /** Path variables by name; `tenant` if the path begins with one. */
  readonly variables: Readonly<Record<string, string>>;
}

/** One segment of a route: a literal, or a variable with the verb after it. */
interface Segment {
  readonly literal?: string;
  readonly variable?: string;
  readonly verb: string;
}

interface CompiledRoute {
  readonly route: WireRoute;
  readonly segments: readonly Segment[];
  readonly hasVerb: boolean;
}

const VARIABLE = /^\{(\w+)\}(:\w+)?$/;

function compile(route: WireRoute): CompiledRoute {
  const segments = route.path.map((text): Segment => {
    const [, variable, verb = ''] = VARIABLE.exec(text) ?? [];
    return variable === undefined ? { literal: text, verb: '' } : { variable, verb };
  });
  return { route, segments, hasVerb: segments.some(({ verb }) => verb !== '') };
}

/** The routes of one version. */
export class RouteTable {
  readonly #codec: WireCodec;
  readonly #byLength = new Map<number, CompiledRoute[]>();
  /** The first literal segments of the routes, which no tenant can be named. */
  readonly heads: readonly string[];

  constructor(codec: WireCodec) {
    this.#codec = codec;
    // Routes with a verb come first, because otherwise the verb would be read as part of an id.
    const compiled = codec.routes.map(compile).sort((a, b) => Number(b.hasVerb) - Number(a.hasVerb));
    for (const entry of compiled) {
      const same = this.#byLength.get(entry.segments.length);
      if (same === undefined) this.#byLength.set(entry.segments.length, [entry]);
      else same.push(entry);
    }
    this.heads = compiled.flatMap(({ segments }) => segments[0]?.literal ?? []);
  }

  /** The routes of a decoded path, of any method. None if an id is empty. */
  match(path: readonly string[], tenant?: string): readonly RouteMatch[] {
    const matches: RouteMatch[] = [];
    let verb = false;
    for (const entry of this.#byLength.get(path.length) ?? []) {
      if (verb && !entry.hasVerb) break;
      const variables = read(entry.segments, path);
      if (variables === undefined) continue;
      if (tenant !== undefined) variables.tenant = tenant;
      verb = entry.hasVerb;
      matches.push({ codec: this.#codec, route: entry.route, variables });
    }
    return matches.some(({ variables }) => Object.values(variables).includes('')) ? [] : matches;
  }
}

function read(segments: readonly Segment[], path: readonly string[]): Record<string, string> | undefined {
  const variables: Record<string, string> = {};
  for (const [index, { literal, variable, verb }] of segments.entries()) {
    const text = path[index];
    if (text === undefined) return undefined;
    if (variable === undefined) {
      if (text !== literal) return undefined;
      continue;
    }
    if (!text.endsWith(verb)) return undefined;
    variables[variable] = text.slice(0, text.length - verb.length);
  }
  return variables;
}
