import type { AnswerCache } from '../../cache/answer-cache.js';
import { OptionsError } from '../../errors/options-error.js';
import { flag, type OptionSchemas, optionObject, text, withMethod } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import { type CorsOptions, type CorsOrigins, corsSchema } from '../middleware/cors-options.js';

/** The endpoints of a base server, by what they are for. */
export const ENDPOINTS = {
  core: ['/discover', '/communicate', '/delegate', '/agent.json', '/health'],
  cache: ['/cache/stats', '/cache/invalidate', '/cache/warmup'],
  monitoring: ['/metrics', '/info'],
} as const;

/** The path of an endpoint. */
export type EndpointPath = (typeof ENDPOINTS)[keyof typeof ENDPOINTS][number];

/** The paths of all endpoints. */
export const ENDPOINT_PATHS: readonly EndpointPath[] = Object.values(ENDPOINTS).flat();

/** The default lifetime of cached answers. */
export const DEFAULT_TTL_SECONDS = 300;

/** The base-server interface of a server: one of its agents, for callers who speak A2A 0.2.5 to a base server. */
export interface BaseServerOptions {
  /** The path of the agent it serves; default: the only agent there is. */
  readonly agent?: string;
  /** The cache of answers; default: in memory. The application closes a cache that it opens. */
  readonly cache?: AnswerCache;
  /** The lifetime of cached answers; default 300. */
  readonly cacheTtlSeconds?: number;
  /** The other origins whose pages may call its endpoints from a browser; default: none. */
  readonly cors?: CorsOrigins | CorsOptions;
  /**
   * True if callers may drop and warm cached answers; default false. With an authenticator, callers need a credential
   * for that. Without one, only programs on the machine of the server may do it.
   */
  readonly cacheChanges?: boolean;
}

const members: OptionSchemas<BaseServerOptions> = {
  agent: Type.Optional(text),
  cache: Type.Optional(withMethod('invalidate')),
  cacheTtlSeconds: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 86_400 })),
  cors: Type.Optional(corsSchema),
  cacheChanges: Type.Optional(flag),
};

/** The schema of BaseServerOptions. */
export const baseServerSchema = optionObject(members);

/** Options that passed their schema, with the name of the function that takes them. */
interface BaseServerCheck {
  readonly subject: string;
  readonly options: BaseServerOptions;
  /** The paths that agents are served under. */
  readonly paths: readonly string[];
}

/**
 * The path of the agent that the base-server interface serves.
 * @throws OptionsError if no agent is under the path, or if the options name none of several agents.
 */
export function baseServerAgent({ subject, options, paths }: BaseServerCheck): string {
  const agent = options.agent ?? (paths.length === 1 ? paths[0] : undefined);
  const problems: string[] = [];
  if (agent === undefined) problems.push('baseServer.agent: is needed, because there are several agents');
  else if (!paths.includes(agent)) problems.push(`baseServer.agent: no agent is served at "${agent}"`);
  for (const path of paths) {
    const taken = ENDPOINT_PATHS.some((own) => own === path || own.startsWith(`${path}/`));
    if (taken && path !== '/') problems.push(`baseServer: the path ${path} of an agent is one of its own`);
  }
  if (agent === undefined || problems.length > 0) throw new OptionsError(subject, problems);
  return agent;
}
