import { RpcTarget } from 'capnweb';
import { isStreaming, OPERATION_NAMES, type OperationName } from 'parley-a2a/binding-kit';
import type { Grant } from './grant.js';
import {
  ANONYMOUS_HELLO,
  AuthenticatedA2AService,
  addPlainMethods,
  helloFor,
  isPlainCredential,
  PlainFace,
  plainCard,
} from './plain-face.js';
import type { ServerSession } from './server-session.js';
import type { Feed } from './session-types.js';
import { readAfter, Subscription, TaskCapability } from './task-capability.js';

/** The root object of a session, and the only one before authentication. */
export class Entrance extends RpcTarget {
  readonly #session: ServerSession;
  readonly #face: PlainFace;
  #anonymous: Promise<Grant> | undefined;

  static {
    addPlainMethods(Entrance.prototype, (entrance) => entrance.#face);
  }

  constructor(session: ServerSession) {
    super();
    this.#session = session;
    this.#face = new PlainFace(session, () => this.#grant());
  }

  getAgentCard(): Promise<unknown> {
    return this.#session.run(() => plainCard(this.#session.options.card()));
  }

  ping(): 'pong' {
    return 'pong';
  }

  /** Authenticates, and returns the agent for the principal. Clients may pipeline calls on the result. */
  async authenticate(hello: unknown): Promise<Agent | AuthenticatedA2AService> {
    const session = this.#session;
    if (!isPlainCredential(hello)) return new Agent(session, await session.authenticate(hello));
    const plain = await session.run(() => helloFor(hello, session.options.card()));
    return new AuthenticatedA2AService(session, await session.authenticate(plain, true));
  }

  /** The grant of callers that use this object itself: that of the upgrade request. */
  #grant(): Promise<Grant> {
    this.#anonymous ??= this.#session.authenticate(ANONYMOUS_HELLO, true).then(
      (grant) => {
        this.#session.hold(grant);
        return grant;
      },
      (error: unknown) => {
        this.#anonymous = undefined;
        throw error;
      },
    );
    return this.#anonymous;
  }
}

/** The agent for one principal, with a method for each row of the operations table. */
export class Agent extends RpcTarget {
  readonly #session: ServerSession;
  readonly #grant: Grant;

  static {
    for (const operation of OPERATION_NAMES) {
      const value = function (this: Agent, request: unknown, options: unknown) {
        return this.#perform(operation, request, options);
      };
      Object.defineProperty(Agent.prototype, operation, { value, configurable: true, writable: true });
    }
  }

  constructor(session: ServerSession, grant: Grant) {
    super();
    this.#session = session;
    this.#grant = grant;
    session.hold(grant);
  }

  /** The object of one task. Rejects for a task that the principal does not own. */
  task(id: unknown): Promise<TaskCapability> {
    return TaskCapability.open(this.#session, this.#grant, id);
  }

  /** Replaces the credential by another one of the same principal. */
  renew(credential: unknown): Promise<{ expiresAt?: string }> {
    return this.#session.renew(this.#grant, credential);
  }

  ping(): 'pong' {
    return 'pong';
  }

  [Symbol.dispose](): void {
    this.#session.release(this.#grant);
  }

  #perform(operation: OperationName, request: unknown, options: unknown): Promise<unknown> {
    const call = { grant: this.#grant, operation, value: request, options };
    return isStreaming(operation) ? this.#stream(call) : this.#session.call(call);
  }

  async #stream(call: Parameters<ServerSession['stream']>[0]): Promise<Feed<Subscription>> {
    const after = await this.#session.run(() => readAfter(call.value));
    return Subscription.feedOf(await this.#session.stream({ ...call, after }));
  }
}
