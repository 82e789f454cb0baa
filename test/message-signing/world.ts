import { exportJWK, generateKeyPair } from 'jose';
import {
  type A2AServer,
  type AgentExecutor,
  type Client,
  connect,
  createA2AServer,
  type StreamResponse,
  type Task,
} from 'parley-a2a';
import type { ConnectOptions } from 'parley-a2a/client';
import type { A2AServerOptions } from 'parley-a2a/node';
import {
  type MessageSigningOptions,
  messageSigning,
  type PrivateJwk,
  type PublicJwk,
  type SignedCallsOptions,
  signedCalls,
} from 'parley-a2a-signing';
import { CapturingLogger } from '../../packages/parley/test/engine.js';

export const AUDIENCE = 'https://agents.example.com/orders';

/** Options of a server beside its agent. */
export type ServerChoices = Partial<
  Pick<
    A2AServerOptions,
    | 'storage'
    | 'bindings'
    | 'versions'
    | 'authenticator'
    | 'schemas'
    | 'push'
    | 'files'
    | 'calls'
    | 'idempotency'
    | 'limits'
  >
>;

/** A key pair as JSON Web Keys. */
export interface KeyPair {
  readonly own: PrivateJwk;
  readonly shown: PublicJwk;
}

/** Makes a key pair for signatures. */
export async function keyPair(kid: string, alg = 'ES256'): Promise<KeyPair> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const more = { kid, alg };
  return {
    own: { ...(await exportJWK(privateKey)), ...more } as PrivateJwk,
    shown: { ...(await exportJWK(publicKey)), ...more } as PublicJwk,
  };
}

/** The keys of the caller and of the agent, and servers of a test. `await using` closes them. */
export class SignedWorld implements AsyncDisposable {
  readonly logger = new CapturingLogger();
  readonly caller: KeyPair;
  readonly agent: KeyPair;
  readonly #servers: A2AServer[] = [];

  private constructor(caller: KeyPair, agent: KeyPair) {
    this.caller = caller;
    this.agent = agent;
  }

  static async make(): Promise<SignedWorld> {
    return new SignedWorld(await keyPair('caller-1'), await keyPair('agent-1'));
  }

  /** A server that takes messages that the caller has signed, and signs its answers. */
  async listen(
    agent: AgentExecutor,
    signing: Partial<MessageSigningOptions> = {},
    options: ServerChoices = {},
  ): Promise<{ readonly server: A2AServer; readonly url: string }> {
    const server = createA2AServer({
      agent,
      logger: this.logger,
      signing: await messageSigning({
        audience: AUDIENCE,
        required: true,
        trust: [{ id: 'shop', keys: [this.caller.shown] }],
        keys: [this.agent.own],
        ...signing,
      }),
      ...options,
    });
    this.#servers.push(server);
    const { url } = await server.listen(0);
    return { server, url };
  }

  /** A client that signs as the caller, and verifies the answers of the agent. Further interceptors see the wire. */
  async client(
    target: Parameters<typeof connect>[0],
    signing: Partial<SignedCallsOptions> = {},
    options: ConnectOptions = {},
  ): Promise<Client> {
    const { interceptors = [], ...rest } = options;
    return connect(target, { ...rest, interceptors: [await this.signCalls(signing), ...interceptors] });
  }

  signCalls(options: Partial<SignedCallsOptions> = {}): ReturnType<typeof signedCalls> {
    return signedCalls({
      audience: AUDIENCE,
      keys: [this.caller.own],
      agent: { keys: [this.agent.shown] },
      ...options,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers.splice(0)) await server.close({ graceMs: 0 });
  }
}

/** An agent of a function. */
export function executor(execute: AgentExecutor['execute'], more: Partial<AgentExecutor> = {}): AgentExecutor {
  return { execute, ...more };
}

/** The task of an answer. */
export function taskOf(answer: StreamResponse): Task {
  if (answer.task === undefined) throw new Error(`no task but ${JSON.stringify(answer)}`);
  return answer.task;
}
