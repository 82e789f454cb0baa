import { LoadedOnDemand } from '../runtime/loaded-on-demand.js';
import type { Logger } from '../telemetry/logger.js';
import type { PushStorage } from './push-storage.js';
import type { Acceptance, TaskStorage } from './task-storage.js';

/** The calls of a push storage that read or write configurations. */
const SEALED_CALLS = ['putConfig', 'rewriteConfig', 'config', 'configs', 'claim'] as const;

/** The keys of a storage with encrypted credentials. */
interface SealedStorageOptions {
  /** Keys of 32 bytes, in base64 or hex. The first one encrypts, and all decrypt. Empty: nothing is encrypted. */
  readonly keys: readonly string[];
  readonly logger: Logger;
}

/**
 * A storage that encrypts urls and credentials of push configurations. Other calls go to `storage` directly. Reading a
 * configuration that cannot be decrypted fails, and its deliveries are parked.
 */
export function sealedStorage(storage: TaskStorage, options: SealedStorageOptions): TaskStorage {
  // Loaded on demand, because most servers never have a configuration.
  const configs = new LoadedOnDemand(async () => {
    const { SealedConfigs } = await import('./sealed-configs.js');
    return new SealedConfigs(storage, options);
  });
  const sealed = SEALED_CALLS.map((name) => {
    const call = async (...args: unknown[]) => {
      const sealing = configs.loaded ?? (await configs.get());
      return Reflect.apply(sealing[name], sealing, args) as unknown;
    };
    return [name, call] as const;
  });
  const accept = async (acceptance: Acceptance) =>
    acceptance.pushConfig === undefined ? storage.accept(acceptance) : (await configs.get()).accept(acceptance);
  return withMembers<TaskStorage>(storage, [
    ['accept', accept],
    ['push', withMembers<PushStorage>(storage.push, sealed)],
  ]);
}

/** Returns the same port with some members replaced. */
function withMembers<Port extends object>(port: Port, replaced: Iterable<readonly [keyof Port, unknown]>): Port {
  const members = new Map<unknown, unknown>(replaced);
  return new Proxy(port, {
    get: (target, name) => {
      const known = members.get(name);
      if (known !== undefined) return known;
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const method: unknown = value.bind(target);
      members.set(name, method);
      return method;
    },
  });
}
