import { SecretError } from '../errors/secret-error.js';
import type { TaskPushNotificationConfig } from '../model/push-notification-config.js';
import { requirePlain, SecretBox, type SecretPlace } from '../secrets/secret-box.js';
import type { Logger } from '../telemetry/logger.js';
import type { ConfigPut, DeliveryClaim, DeliveryClaimRequest, DeliveryClaims, PushStorage } from './push-storage.js';
import type { Scope } from './task-key.js';
import type { Acceptance, AcceptOutcome, TaskStorage } from './task-storage.js';

type Config = TaskPushNotificationConfig;
type Change = (text: string, place: SecretPlace) => Promise<string>;

const MOST_OPENED = 1000;

/** The calls of a storage that read or write push configurations, with encrypted secrets. */
export class SealedConfigs {
  readonly #storage: TaskStorage;
  readonly #box: SecretBox | undefined;
  readonly #logger: Logger;
  /**
   * Cache of decrypted texts by place and encrypted text, because a sender claims the same configuration repeatedly.
   */
  readonly #opened = new Map<string, string>();
  /** The same by stored object: storages in this process return one object until it is replaced. */
  readonly #openedConfigs = new WeakMap<Config, Config>();

  /** Without keys nothing is encrypted, and reading an encrypted configuration fails. */
  constructor(storage: TaskStorage, { keys, logger }: { readonly keys: readonly string[]; readonly logger: Logger }) {
    this.#storage = storage;
    this.#box = keys.length === 0 ? undefined : new SecretBox(keys);
    this.#logger = logger;
  }

  async accept(acceptance: Acceptance): Promise<AcceptOutcome> {
    const { pushConfig, task, scope } = acceptance;
    if (pushConfig === undefined) return this.#storage.accept(acceptance);
    const taskId = 'create' in task ? task.create.id : task.id;
    const id = pushConfig.id ?? taskId;
    return this.#storage.accept({
      ...acceptance,
      pushConfig: await this.#sealed(scope, { ...pushConfig, id, taskId }),
    });
  }

  async putConfig(...[scope, config, limit]: Parameters<PushStorage['putConfig']>): Promise<ConfigPut> {
    return this.#storage.push.putConfig(scope, await this.#sealed(scope, config), limit);
  }

  async rewriteConfig(...[queue, { from, to }]: Parameters<PushStorage['rewriteConfig']>): Promise<boolean> {
    const { scope } = queue.key;
    return this.#storage.push.rewriteConfig(queue, {
      from: await this.#sealed(scope, from),
      to: await this.#sealed(scope, to),
    });
  }

  async config(...[scope, taskId, id]: Parameters<PushStorage['config']>): ReturnType<PushStorage['config']> {
    const config = await this.#storage.push.config(scope, taskId, id);
    return config && this.#open(scope, config);
  }

  async configs(...call: Parameters<PushStorage['configs']>): ReturnType<PushStorage['configs']> {
    const configs = await this.#storage.push.configs(...call);
    return configs && Promise.all(configs.map((config) => this.#open(call[0], config)));
  }

  /** Parks a queue whose configuration cannot be decrypted. */
  async claim(request: DeliveryClaimRequest): Promise<DeliveryClaims> {
    const { claims, more } = await this.#storage.push.claim(request);
    const opened = await Promise.all(claims.map((claim) => this.#openClaim(claim)));
    return { claims: opened.filter((claim) => claim !== undefined), more };
  }

  async #openClaim(claim: DeliveryClaim): Promise<DeliveryClaim | undefined> {
    try {
      return { ...claim, config: await this.#open(claim.key.scope, claim.config) };
    } catch (error) {
      if (!(error instanceof SecretError)) throw error;
      const { key, configId } = claim;
      this.#logger.error('a push delivery is parked', { taskId: key.id, configId, error });
      await this.#storage.push.settle(claim, { kind: 'park', reason: error.message });
      return undefined;
    }
  }

  #sealed<Kind extends Config>(scope: Scope, config: Kind): Promise<Kind> {
    const box = this.#box;
    return box === undefined
      ? Promise.resolve(config)
      : changedSecrets(scope, config, (text, place) => box.seal(text, place));
  }

  async #open<Kind extends Config>(scope: Scope, config: Kind): Promise<Kind> {
    const known = this.#openedConfigs.get(config);
    if (known !== undefined) return known as Kind;
    const opened = await changedSecrets(scope, config, async (text, place) => {
      if (this.#box === undefined) return requirePlain(text);
      const key = JSON.stringify([text, place]);
      const plainText = this.#opened.get(key);
      if (plainText !== undefined) return plainText;
      const plain = await this.#box.open(text, place);
      if (this.#opened.size >= MOST_OPENED) this.#opened.clear();
      this.#opened.set(key, plain);
      return plain;
    });
    this.#openedConfigs.set(config, opened);
    return opened;
  }
}

/**
 * Returns a configuration with its secrets transformed: the url, whose path or query may be secret, the token and the
 * credentials.
 */
export async function changedSecrets<Kind extends Config>(scope: Scope, config: Kind, change: Change): Promise<Kind> {
  const { url, token, authentication } = config;
  const { agent, tenant, owner } = scope;
  const changed = (text: string, member: string) =>
    change(text, ['push', agent, tenant, owner, config.taskId ?? null, config.id ?? null, member]);
  const { credentials } = authentication ?? {};
  return {
    ...config,
    url: await changed(url, 'url'),
    ...(token !== undefined && { token: await changed(token, 'token') }),
    ...(authentication !== undefined &&
      credentials !== undefined && {
        authentication: { ...authentication, credentials: await changed(credentials, 'credentials') },
      }),
  };
}
