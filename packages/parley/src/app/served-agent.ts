import { buildAgentCard, type ServedCapabilities } from '../agent-card/build-agent-card.js';
import { declaredModes } from '../agent-card/declared-modes.js';
import type { Authenticator } from '../auth/authenticator.js';
import { requirementsOf, withRequirements } from '../auth/requirements.js';
import type { User } from '../auth/user.js';
import { type BindingContext, DEFAULT_REQUEST_LIMITS } from '../bindings/http/binding-context.js';
import type { BodyBudget } from '../bindings/http/body-budget.js';
import type { ExchangeRequest } from '../bindings/http/exchange.js';
import type { ErrorCode } from '../errors/a2a-error.js';
import { OptionsError } from '../errors/options-error.js';
import type { AgentCard, AgentExtension, AgentInterface } from '../model/agent-card.js';
import { boundInterfaces, withBoundInterfaces } from '../model/bound-interface.js';
import { cloneJson } from '../model/clone-json.js';
import type { ContentModes } from '../operations/content-types.js';
import { answersCard, OPERATION_NAMES } from '../operations/operations.js';
import { VERSION_WHEN_ABSENT } from '../operations/versions.js';
import type { NotificationChange } from '../push/notifications.js';
import { type RecordedAct, ServedDeliveries } from '../push/served-deliveries.js';
import type { Clock } from '../runtime/clock.js';
import type { IdSource } from '../runtime/id-source.js';
import type { KeyedPlaces } from '../runtime/keyed-places.js';
import type { UncaughtErrors } from '../runtime/uncaught-errors.js';
import { agent as toExecutor } from '../server/agent.js';
import type { AgentExecutor } from '../server/agent-executor.js';
import type { AuthorizationReply, SecretSealer } from '../server/authorization.js';
import { DefaultRequestHandler } from '../server/default-request-handler.js';
import type { EngineNode } from '../server/execution/engine-node.js';
import { interceptedHandler, newTaskIds } from '../server/intercepted-handler.js';
import { isolation } from '../server/isolation.js';
import { mapHandler } from '../server/map-handler.js';
import type { PushRegistration } from '../server/push-registration.js';
import type { RequestHandler } from '../server/request-handler.js';
import { ServedTasks } from '../server/served-tasks.js';
import { grantedTenant, tenantGuardedHandler } from '../server/tenant-guarded-handler.js';
import type { TurnPorts } from '../server/turn-ports.js';
import { validatedHandler } from '../server/validated-handler.js';
import type { TaskStorage } from '../store/task-storage.js';
import type { ArtifactEnd } from '../task/artifact-end.js';
import type { Logger } from '../telemetry/logger.js';
import type { ReachedLimit } from '../telemetry/reached-limit.js';
import { type LoadSignedCards, signingHandler } from './card-signing.js';
import type { AroundAgent } from './host-extension.js';
import type { Rate } from './limits/rate-limiter.js';
import type { AgentOptions } from './options/agent-options.js';

/** The ports of agents. */
export interface AgentPorts {
  readonly storage: TaskStorage;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly uncaughtErrors?: UncaughtErrors | undefined;
  readonly logger: Logger;
  readonly heartbeatMs: number;
  /** Bounds the memory of large bodies. */
  readonly bodies: BodyBudget;
  /** Encrypts credentials that a turn keeps. Absent: they are in memory only. */
  readonly secrets?: SecretSealer | undefined;
  /** Signs cards. Absent: they have no signatures. */
  readonly signing?: LoadSignedCards | undefined;
}

/** The ports that all agents of a host share. */
interface SharedPorts extends AgentPorts {
  /** The places of open streams, by caller. */
  readonly streamPlaces: KeyedPlaces;
  /** The places of running turns, by caller. */
  readonly turnPlaces: KeyedPlaces;
  /** Names the address of an anonymous caller in limits; `undefined` if no limit counts for it. */
  readonly addressOf: (request: ExchangeRequest) => string | undefined;
  /** Called for each request that a limit refuses. */
  readonly limitReached: (limit: ReachedLimit) => void;
  /** The process on the storage: it keeps the leases of all agents. */
  readonly node: EngineNode;
  /** The rules for webhooks. Absent: the host sends no push notifications. */
  readonly registration?: PushRegistration | undefined;
  /** Services for agents beside the engine. */
  readonly turnPorts: TurnPorts;
  /** Called for each error that ends a stream after its start. */
  readonly streamBroke: (code: ErrorCode) => void;
}

/** The owner of tasks of an agent. Default: anonymous callers without a tenant. */
export interface TaskOwner {
  readonly tenant?: string;
  /** The id of a user; `null` for anonymous callers. */
  readonly owner?: string | null;
}

/** The options of a served agent. */
interface ServedAgentSetup {
  /** Names the task space unless the options do. */
  readonly path: string;
  readonly options: AgentOptions;
  readonly ports: SharedPorts;
  /** The public address of the callback for authorizations, or "" while there is none. */
  readonly callbackUrl?: () => string;
  /** Functions of extensions around the agent, the innermost first. */
  readonly around: readonly AroundAgent[];
}

/** One agent with its task space, wherever it is mounted. */
export class ServedAgent {
  /** The id of its task space. */
  readonly id: string;
  /** Changes what its push notifications tell. Absent: they tell what is stored. */
  readonly notifications: NotificationChange | undefined;
  readonly #options: AgentOptions;
  readonly #ports: SharedPorts;
  readonly #callbackUrl: (() => string) | undefined;
  readonly #handler: RequestHandler;
  readonly #engine: DefaultRequestHandler | undefined;
  readonly #capabilities: ServedCapabilities;
  readonly #modes: ContentModes | undefined;

  constructor({ path, options, ports, callbackUrl, around }: ServedAgentSetup) {
    this.#callbackUrl = callbackUrl;
    this.#options = enforceRequirements(options);
    this.#ports = ports;
    this.#capabilities = capabilitiesOf(this.#options, ports);
    this.#modes = declaredModes(options);
    this.id = options.id ?? path;
    this.notifications = around.find((one) => one.notifications)?.notifications;
    let handler: RequestHandler;
    if (options.handler !== undefined) {
      handler = options.handler;
    } else {
      const executor = around.reduce((inner, one) => one.executor(inner, ports.logger), executorOf(options.agent));
      this.#engine = this.#makeEngine(this.id, executor);
      handler = this.#engine;
    }
    this.#handler = around.reduce((inner, one) => one.handler(inner), handler);
  }

  /** True if callers need no credential. */
  get isOpen(): boolean {
    const { authenticator } = this.#options;
    return authenticator === undefined || authenticator.optional === true;
  }

  /** Finds the users of the agent. Absent: every caller is anonymous. */
  get authenticator(): Authenticator | undefined {
    return this.#options.authenticator;
  }

  /** True if a caller may name a tenant. */
  async grantsTenant(user: User | undefined, tenant: string): Promise<boolean> {
    const { authenticator, tenants } = this.#options;
    if (tenant === '' || authenticator === undefined) return true;
    return (await grantedTenant(user, tenant, tenants)) === true;
  }

  /** False if a handler of the application answers its calls. */
  get hasEngine(): boolean {
    return this.#engine !== undefined;
  }

  /** True if the host sends the push notifications of the agent. */
  get isPushing(): boolean {
    return this.#engine !== undefined && this.#capabilities.pushNotifications;
  }

  /**
   * The push deliveries of the agent, for the application's own code. `recorded` keeps records of replays and purges.
   * @throws OptionsError if a handler of the application has them.
   */
  deliveries(recorded?: RecordedAct): ServedDeliveries {
    if (this.#engine === undefined)
      throw new OptionsError(this.id, ['has a handler of its own, which sends its push notifications']);
    return new ServedDeliveries({ agent: this.id, storage: this.#ports.storage, recorded });
  }

  /** The rate of each principal, in the place of that of the host; `undefined` for that of the host. */
  get ratePerPrincipal(): Rate | false | undefined {
    return this.#options.ratePerPrincipal;
  }

  /** Turns that run now. */
  get runningTurns(): number {
    return this.#engine?.load.runningTurns ?? 0;
  }

  /** The public card with these interfaces, and extensions beside those of the agent. */
  card(interfaces: readonly AgentInterface[], further: readonly AgentExtension[] = []): AgentCard {
    const options = this.#options;
    const { extensions = [], agent } = options;
    const used = agent !== undefined && 'execute' in agent ? (agent.extensions ?? []) : [];
    const undeclared = used.filter(({ uri }) => !extensions.some((one) => one.uri === uri));
    const more = [...undeclared, ...further];
    const all = more.length === 0 ? options : { ...options, extensions: [...extensions, ...more] };
    return buildAgentCard({ options: all, served: this.#capabilities, interfaces });
  }

  /** The context for bindings. The extended card has these interfaces in the place of those of the public card. */
  bindingContext(card: AgentCard, extended: readonly AgentInterface[]): BindingContext {
    const { authenticator, limits, versionWhenAbsent = VERSION_WHEN_ABSENT, strictVersions = false } = this.#options;
    const { logger, clock, bodies, heartbeatMs, streamPlaces, addressOf, limitReached, streamBroke } = this.#ports;
    return {
      agent: this.id,
      handler: this.#guardedHandlerAt(card, extended),
      card,
      ...(this.#modes && { modes: this.#modes }),
      ...(authenticator && { challenges: authenticator.challenges }),
      ...(authenticator?.optional === true && { takesAnonymous: true }),
      ...this.#skillRequirements,
      logger,
      clock,
      limits: { ...DEFAULT_REQUEST_LIMITS, ...limits },
      bodies,
      heartbeatMs,
      streamPlaces,
      addressOf,
      limitReached,
      streamBroke,
      versionWhenAbsent,
      strictVersions,
      artifactEnd: this.#artifactEnd,
    };
  }

  /** Without an authenticator a tenant is a part of the task space that every caller may name. */
  #guardedHandlerAt(card: AgentCard, extended: readonly AgentInterface[]): RequestHandler {
    const { authenticator, tenants } = this.#options;
    const { signing } = this.#ports;
    const unsigned = this.#handlerAt(extended);
    // Outside of the interceptors, which may change an extended card.
    const signed = signing === undefined ? unsigned : signingHandler(unsigned, signing);
    const bound = boundInterfaces(card);
    // The outermost, because copies of the card lose its bound interfaces.
    const handler = this.#capabilities.extendedAgentCard
      ? withExtendedCard(signed, (one) => withBoundInterfaces({ ...one }, bound))
      : signed;
    return authenticator === undefined ? handler : tenantGuardedHandler(handler, tenants);
  }

  get #artifactEnd(): ArtifactEnd {
    const { artifactEnd, agent } = this.#options;
    const ofAgent = agent !== undefined && 'execute' in agent ? agent.artifactEnd : undefined;
    return artifactEnd ?? ofAgent ?? 'auto';
  }

  /** The requirements of all skills. Absent if every caller of the agent may use one. */
  get #skillRequirements(): Pick<BindingContext, 'skillRequirements'> {
    const { authenticator, skills = [] } = this.#options;
    const ofSkills = skills.map(({ securityRequirements = [] }) => securityRequirements);
    const isOpen = authenticator === undefined || skills.length === 0 || ofSkills.some((one) => one.length === 0);
    return isOpen ? {} : { skillRequirements: ofSkills.flat() };
  }

  #handlerAt(supportedInterfaces: readonly AgentInterface[]): RequestHandler {
    const { interceptors = [] } = this.#options;
    const handler = this.#capabilities.extendedAgentCard
      ? withExtendedCard(this.#handler, (card) => ({ ...card, supportedInterfaces }))
      : this.#handler;
    const around = [newTaskIds(this.#ports.ids), ...interceptors];
    // A custom handler decides itself what it gives to interceptors.
    if (this.#engine === undefined) return validatedHandler(interceptedHandler(handler, around));
    const called = interceptors.length === 0 ? handler : interceptedHandler(handler, [...around, isolation]);
    // All else comes out of the engine, which has checked what agents publish.
    return this.#capabilities.extendedAgentCard
      ? validatedHandler(called, OPERATION_NAMES.filter(answersCard))
      : called;
  }

  /**
   * The tasks of a scope, for the application's own code.
   * @throws OptionsError if a handler of the application has them.
   */
  tasks({ tenant = '', owner = null }: TaskOwner): ServedTasks {
    const { storage, clock, ids, logger } = this.#ports;
    if (this.#engine === undefined)
      throw new OptionsError(this.id, ['has a handler of its own, which keeps its tasks']);
    return new ServedTasks({
      storage,
      scope: { agent: this.id, tenant, owner },
      clock,
      ids,
      engine: this.#engine,
      logger,
    });
  }

  /** Hands an authorization to the agent that asked for it. See `DefaultRequestHandler.authorize`. */
  async authorize(state: string, reply: AuthorizationReply): Promise<string | undefined> {
    return this.#engine?.authorize(state, reply);
  }

  /** Takes over what an earlier process left behind. */
  async start(): Promise<void> {
    await this.#engine?.start();
  }

  /** Lets running turns end for a grace, then leaves them to the next process. */
  async close(graceMs: number): Promise<void> {
    await this.#engine?.close({ graceMs });
  }

  #makeEngine(id: string, executor: AgentExecutor): DefaultRequestHandler {
    const { storage, clock, ids, uncaughtErrors, logger, node, secrets, turnPlaces, registration, turnPorts } =
      this.#ports;
    const { authenticator, extendedAgentCard, idempotency, limits } = this.#options;
    const callbackUrl = this.#callbackUrl;
    const card = this.card([]);
    return new DefaultRequestHandler({
      agent: id,
      executor,
      storage,
      clock,
      ids,
      logger,
      node,
      turnPlaces,
      turnPorts,
      artifactEnd: this.#artifactEnd,
      ...(callbackUrl && { callbackUrl }),
      ...(secrets && { secrets }),
      ...(uncaughtErrors && { uncaughtErrors }),
      ...(authenticator && { challenges: authenticator.challenges }),
      ...(extendedAgentCard && { extendedAgentCard: (user) => extendedAgentCard(cloneJson(card), user) }),
      ...(limits && { limits }),
      ...(registration && this.#capabilities.pushNotifications && { push: registration }),
      ...(idempotency && { idempotency }),
    });
  }
}

function executorOf(agent: NonNullable<AgentOptions['agent']>): AgentExecutor {
  return typeof agent === 'object' && 'execute' in agent ? agent : toExecutor(agent);
}

/** The options with an authenticator that enforces the requirements of the card. */
function enforceRequirements(options: AgentOptions): AgentOptions {
  const { authenticator, securityRequirements } = options;
  if (authenticator === undefined || securityRequirements === undefined) return options;
  return { ...options, authenticator: withRequirements(authenticator, securityRequirements) };
}

function capabilitiesOf(
  options: AgentOptions,
  { registration }: Pick<SharedPorts, 'registration'>,
): ServedCapabilities {
  const streaming = options.streaming ?? true;
  const { authenticator, idempotency } = options;
  const ownEngine = options.handler === undefined;
  return {
    streaming,
    pushNotifications: ownEngine
      ? registration !== undefined && options.pushNotifications !== false
      : options.pushNotifications === true,
    extendedAgentCard: options.extendedAgentCard !== undefined,
    streamResume: ownEngine && streaming,
    idempotentSend: ownEngine && (authenticator !== undefined || idempotency?.anonymous === true),
    ...(authenticator?.securitySchemes && {
      securitySchemes: authenticator.securitySchemes,
      securityRequirements: requirementsOf(authenticator),
    }),
  };
}

/** The handler with a change of its extended cards. */
function withExtendedCard(handler: RequestHandler, change: (card: AgentCard) => AgentCard): RequestHandler {
  return mapHandler(handler, (name, method) =>
    answersCard(name) ? async (request, context) => change((await method(request, context)) as AgentCard) : method,
  );
}
