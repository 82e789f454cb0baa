import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';

/** A server on a free port of this machine. */
export class LocalServer implements AsyncDisposable {
  readonly #server: Server;

  private constructor(listener: RequestListener) {
    this.#server = createServer(listener);
  }

  static async open(listener: RequestListener): Promise<LocalServer> {
    const local = new LocalServer(listener);
    local.#server.listen(0, '127.0.0.1');
    await once(local.#server, 'listening');
    return local;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** An agent that signs its notifications, with its keys behind a url. */
export class SigningAgent implements AsyncDisposable {
  readonly #server: LocalServer;
  readonly #key: CryptoKey;

  private constructor(server: LocalServer, key: CryptoKey) {
    this.#server = server;
    this.#key = key;
  }

  static async open(): Promise<SigningAgent> {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' };
    const server = await LocalServer.open((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ keys: [jwk] }));
    });
    return new SigningAgent(server, privateKey);
  }

  get issuer(): string {
    return this.#server.url;
  }

  get jwksUrl(): string {
    return `${this.#server.url}/jwks.json`;
  }

  /** A signature for a notification; `claims` replace those of a right one. */
  sign(facts: { readonly id: string; readonly body: string; readonly audience: string }, claims: object = {}) {
    const now = Math.floor(Date.now() / 1000);
    const hash = createHash('sha256').update(facts.body).digest('hex');
    return new SignJWT({
      iss: this.issuer,
      aud: facts.audience,
      iat: now,
      exp: now + 300,
      jti: facts.id,
      request_body_sha256: hash,
      ...claims,
    })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .sign(this.#key);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server[Symbol.asyncDispose]();
  }
}

/** A notification of 1.0 about a task. */
export function statusUpdate(taskId = 't1', state = 'TASK_STATE_WORKING'): object {
  return { statusUpdate: { taskId, contextId: 'c1', status: { state, timestamp: '2026-01-01T00:00:00.000Z' } } };
}

/** The same as version 0.3 sends it: the whole task. */
export function oldTask(id = 't1'): object {
  return { kind: 'task', id, contextId: 'c1', status: { state: 'completed' }, history: [], artifacts: [] };
}
