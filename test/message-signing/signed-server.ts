import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/servers/free-port.js';
import { AUDIENCE, type KeyPair, keyPair, type SignedWorld } from './world.js';

/** A process with a signing agent, which may be killed. */
export class SignedServer implements AsyncDisposable {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  /** Starts `killed-server.mjs`. A stuck one never gets past the third word. */
  static async start(
    database: string,
    options: { readonly signing: string; readonly port?: string; readonly isStuck?: boolean },
  ): Promise<SignedServer> {
    const { signing, port = String(await freePort()), isStuck = false } = options;
    const program = fileURLToPath(new URL('killed-server.mjs', import.meta.url));
    const child = spawn(process.execPath, [program, database, signing, port, ...(isStuck ? ['stuck'] : [])], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const end = () => child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    for await (const url of createInterface({ input: child.stdout })) return new SignedServer(child, url);
    throw new Error('the server did not start');
  }

  get port(): string {
    return new URL(this.url).port;
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      this.#child.once('exit', () => resolve());
      this.#child.kill('SIGKILL');
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}

/** The keys of encryption, and the signing options of a `SignedServer` as JSON. */
export async function sealedSetup(world: SignedWorld) {
  const agentKey = await keyPair('agent-enc', 'ECDH-ES+A256KW');
  const ownKey: KeyPair = await keyPair('own-enc', 'ECDH-ES+A256KW');
  const signing = {
    audience: AUDIENCE,
    required: true,
    trust: [{ id: 'shop', keys: [world.caller.shown] }],
    keys: [world.agent.own],
    encryption: { keys: [agentKey.own], required: true },
  };
  const encryption = { to: { keys: [agentKey.shown] }, keys: [ownKey.own], required: true };
  return { signing: JSON.stringify(signing), encryption };
}
