import { type AgentCardOptions, undeclaredSchemes } from '../../agent-card/agent-card-options.js';
import type { Authenticator } from '../../auth/authenticator.js';
import type { User } from '../../auth/user.js';
import {
  DEFAULT_REQUEST_LIMITS,
  HIGHEST_REQUEST_LIMITS,
  type RequestLimits,
} from '../../bindings/http/binding-context.js';
import { PROTOCOL_VERSIONS, type ProtocolVersionName } from '../../codec/protocol-versions.js';
import type { AgentCard } from '../../model/agent-card.js';
import { VERSION_WHEN_ABSENT } from '../../operations/versions.js';
import {
  custom,
  flag,
  func,
  nonEmpty,
  type OptionSchemas,
  optionObject,
  pattern,
  withMethod,
} from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import type { PromptFunction, PromptRunner } from '../../server/agent.js';
import type { AgentExecutor } from '../../server/agent-executor.js';
import { DEFAULT_ENGINE_LIMITS, type EngineLimits } from '../../server/engine-limits.js';
import type { IdempotencyOptions } from '../../server/idempotency.js';
import type { ServerInterceptor } from '../../server/intercepted-handler.js';
import type { RequestHandler } from '../../server/request-handler.js';
import type { TenantRule } from '../../server/tenant-guarded-handler.js';
import { ARTIFACT_ENDS, type ArtifactEnd } from '../../task/artifact-end.js';
import { optionalRateSchema } from '../limits/rate-limit-options.js';
import type { Rate } from '../limits/rate-limiter.js';
import { agentCardSchemas } from './agent-card-schemas.js';

/** The options of every agent. */
export interface ServedAgentOptions extends AgentCardOptions {
  /**
   * Name of the agent's task space in the storage, where tasks are found again after a restart.
   * @defaultValue the path it is served under
   */
  readonly id?: string;
  /**
   * True if the agent offers streaming calls.
   * @defaultValue `true`
   */
  readonly streaming?: boolean;
  /**
   * True if the agent sends push notifications. An agent with a `handler` sends them itself.
   * @defaultValue if the host does; `false` with a `handler`
   * @see docs/push.md
   */
  readonly pushNotifications?: boolean;
  /**
   * Authenticates callers. Callers without a valid credential are refused, unless it is `optional`.
   * @defaultValue the authenticator of the host; without one every caller is anonymous
   * @see docs/authentication.md
   */
  readonly authenticator?: Authenticator;
  /**
   * True if a gateway in front of the server checks the credentials that `securitySchemes` ask for. Otherwise an agent
   * with `securitySchemes` needs an authenticator.
   * @defaultValue `false`
   * @see docs/authentication.md#requirements-of-a-card
   */
  readonly gatewayAuthenticates?: boolean;
  /**
   * Decides about the tenants that a user without `User.tenants` may name. It needs an authenticator. Without an
   * authenticator every caller may name every tenant.
   * @defaultValue none
   * @see docs/ownership.md#tenants
   */
  readonly tenants?: TenantRule;
  /**
   * Makes the extended card of a user from the public card. With `undefined` this user gets `PERMISSION_DENIED`.
   * @defaultValue none
   */
  readonly extendedAgentCard?: (card: AgentCard, user: User) => AgentCard | undefined | Promise<AgentCard | undefined>;
  /**
   * For how long, and for which callers, a message that is sent again leads to the outcome of the first one.
   * @defaultValue for known callers, 10 minutes
   */
  readonly idempotency?: IdempotencyOptions;
  /**
   * Functions around every call, the first one outermost. They get valid requests of authenticated callers.
   * @defaultValue none
   * @see docs/agents.md#around-calls
   */
  readonly interceptors?: readonly ServerInterceptor[];
  /**
   * The update that ends an artifact of several chunks. `chunk`: the last chunk. `whole`: the whole artifact in its
   * place. `auto`: `whole` for clients that are known to show only that update.
   * @defaultValue that of the agent, or `auto`
   * @see docs/agents.md#the-end-of-an-artifact
   */
  readonly artifactEnd?: ArtifactEnd;
  /**
   * Limits of requests and of the engine that differ from the defaults.
   * @defaultValue each has its own
   * @see docs/configuration.md#limits
   */
  readonly limits?: Partial<RequestLimits & EngineLimits>;
  /**
   * The rate of each user or anonymous address, in the place of that of the host; `false` for none.
   * @defaultValue that of `rateLimit`
   * @see docs/configuration.md#rates
   */
  readonly ratePerPrincipal?: Rate | false;
  /**
   * The protocol versions that are offered: `1.0`, `0.3`, `0.2.5`.
   * @defaultValue `['1.0', '0.3']`
   * @see docs/versions.md
   */
  readonly versions?: readonly ProtocolVersionName[];
  /**
   * The protocol version of a call that names none.
   * @defaultValue `0.3`, as the specification requires (§3.6.2)
   */
  readonly versionWhenAbsent?: string;
  /**
   * True if a call is answered in the version that it names, and in no other; a call that names none is one of 0.3.
   * Otherwise a method or a path of 1.0 answers callers that name an older version, or none.
   * @defaultValue `false`
   * @see docs/versions.md#the-version-of-a-call
   */
  readonly strictVersions?: boolean;
}

/** One agent: its executor, or a request handler in the place of the engine, and the content of its card. */
export type AgentOptions = ServedAgentOptions &
  (
    | { readonly agent: AgentExecutor | PromptFunction | PromptRunner; readonly handler?: never }
    | { readonly handler: RequestHandler; readonly agent?: never }
  );

/** The protocol versions of an agent whose options name none. */
export const DEFAULT_VERSIONS: readonly ProtocolVersionName[] = ['1.0', '0.3'];

const versionNames = Object.keys(PROTOCOL_VERSIONS);

/** The schema of a list of protocol versions. */
export const versionsSchema = Type.Refine(
  Type.Array(Type.String({ enum: versionNames }), { minItems: 1 }),
  (versions) => new Set(versions).size === versions.length,
  () => 'must have each version once',
);

/** The highest limit, and thirty years in ms. */
const HIGHEST = 1e12;

/** A duration in whole milliseconds: databases store no others. */
export const wholeMs = Type.Optional(Type.Integer({ minimum: 1, maximum: HIGHEST }));

const highest: Readonly<Record<string, number>> = HIGHEST_REQUEST_LIMITS;
const storedLimits = { leaseMs: wholeMs, waitingExpiryMs: wholeMs } satisfies Partial<OptionSchemas<EngineLimits>>;
const limits = {
  ...Object.fromEntries(
    Object.keys({ ...DEFAULT_REQUEST_LIMITS, ...DEFAULT_ENGINE_LIMITS }).map((name) => [
      name,
      Type.Optional(Type.Number({ minimum: 0, maximum: highest[name] ?? HIGHEST })),
    ]),
  ),
  ...storedLimits,
};

/** The schema of an authenticator. */
export const authenticatorSchema = withMethod('authenticate', 'Give one of parley-a2a/auth, such as new ApiKeys(keys)');

/** The schemas of AgentOptions. */
export const agentSchemas: OptionSchemas<AgentOptions> = {
  ...agentCardSchemas,
  agent: Type.Optional(
    Type.Refine(
      custom(isAgent, 'must be an AgentExecutor, a function, or an object with a method run or execute'),
      (agent) => !isClass(agent),
      () => 'is a class: give an instance of it, made with new',
    ),
  ),
  handler: Type.Optional(withMethod('sendMessage')),
  id: Type.Optional(nonEmpty),
  streaming: Type.Optional(flag),
  pushNotifications: Type.Optional(flag),
  authenticator: Type.Optional(authenticatorSchema),
  gatewayAuthenticates: Type.Optional(flag),
  tenants: Type.Optional(func),
  extendedAgentCard: Type.Optional(func),
  idempotency: Type.Optional(optionObject({ anonymous: Type.Optional(flag), windowMs: wholeMs })),
  interceptors: Type.Optional(Type.Array(func)),
  artifactEnd: Type.Optional(Type.String({ enum: [...ARTIFACT_ENDS] })),
  limits: Type.Optional(optionObject(limits)),
  ratePerPrincipal: Type.Optional(optionalRateSchema),
  versions: Type.Optional(versionsSchema),
  versionWhenAbsent: Type.Optional(pattern(/^\d+\.\d+$/, 'must be Major.Minor, such as "1.0"')),
  strictVersions: Type.Optional(flag),
};

/** The first problem of options that passed their schema. `inherited` is the authenticator of the host. */
export function agentProblem(options: AgentOptions, inherited?: Authenticator): string | undefined {
  if (options.agent === undefined && options.handler === undefined)
    return 'needs an agent: a function, such as agent: (prompt) => prompt.toUpperCase()';
  if (options.agent !== undefined && options.handler !== undefined) return 'has an agent and a handler: give one';
  const authenticator = options.authenticator ?? inherited;
  const { securitySchemes = authenticator?.securitySchemes } = options;
  const undeclared = undeclaredSchemes(options, securitySchemes);
  if (undeclared.length > 0) return `securityRequirements: no scheme is declared as ${undeclared.join(', ')}`;
  const unchecked = uncheckedSchemes(options, authenticator);
  if (unchecked !== undefined) return unchecked;
  if (options.tenants !== undefined && authenticator === undefined) return 'tenants needs an authenticator';
  const { strictVersions = false, versionWhenAbsent = VERSION_WHEN_ABSENT } = options;
  if (strictVersions && versionWhenAbsent !== VERSION_WHEN_ABSENT)
    return `strictVersions counts a call without A2A-Version as one of ${VERSION_WHEN_ABSENT}, and versionWhenAbsent as one of ${versionWhenAbsent}: leave one out`;
  if (options.extendedAgentCard === undefined) return undefined;
  // Spec §3.1.11: anonymous callers get no extended card. Without an authenticator no caller could read it.
  return authenticator === undefined ? 'extendedAgentCard needs an authenticator' : undefined;
}

/** The problem of a card that asks for credentials, or of a gateway that would check them. */
function uncheckedSchemes(
  { securitySchemes = {}, gatewayAuthenticates = false }: AgentOptions,
  authenticator: Authenticator | undefined,
): string | undefined {
  if (authenticator !== undefined && gatewayAuthenticates)
    return 'gatewayAuthenticates: the agent has an authenticator';
  const names = Object.keys(securitySchemes);
  if (authenticator !== undefined || gatewayAuthenticates || names.length === 0) return undefined;
  return `securitySchemes: the card asks for ${names.join(', ')}, and no authenticator checks it. Set authenticator, or gatewayAuthenticates: true if a gateway does`;
}

function isAgent(value: unknown): boolean {
  if (typeof value === 'function') return true;
  const { execute, run } = Object(value) as { readonly execute?: unknown; readonly run?: unknown };
  return typeof execute === 'function' || typeof run === 'function';
}

function isClass(value: unknown): boolean {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value));
}
