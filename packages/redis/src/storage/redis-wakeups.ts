import {
  ignoreRejection,
  LocalWakeups,
  PARTITIONS,
  partitionOf,
  type TaskKey,
  type WakeupListener,
  type Wakeups,
} from 'parley-a2a/storage-engine';
import type { RedisClient } from './redis-clients.js';
import type { RedisConnection } from './redis-connection.js';
import { type PlacedListener, readWakeups, WakeupBatch } from './wakeup-batch.js';

/** Interval in ms between attempts to subscribe, and between checks of an idle connection. */
const LOOK_MS = 5_000;
/** Maximum time in ms that wake-ups for other processes wait to share a message. */
const TOGETHER_MS = 10;

/** Wake-ups with the partition of the work. */
export interface PlacedWakeups extends Wakeups {
  workReady(agent: string, partition?: number): void;
  deliveryReady(agent: string, partition?: number): void;
  watchPlaces?(watcher: PlacedListener['placed']): void;
  close?(): Promise<void>;
}

/**
 * Wake-ups between all processes on one Redis. This process gets its own at once, the others by messages. A cluster has
 * a channel for each partition, so that a message stays on one server. Subscriptions have separate connections.
 */
export class RedisWakeups implements PlacedWakeups {
  readonly #local = new LocalWakeups();
  readonly #watchers = new Set<PlacedListener['placed']>();
  readonly #connection: RedisConnection;
  readonly #subscriber: RedisClient;
  /** The id of this process in its messages. */
  readonly #self: string;
  readonly #channels: readonly string[];
  readonly #batches = new Map<string, WakeupBatch>();
  #sentAt = Number.NEGATIVE_INFINITY;
  readonly #missing: Set<string>;
  #cancel: (() => void) | undefined;
  #cancelLook: (() => void) | undefined;
  #isDue = false;
  #isClosed = false;

  /** Subscribes. Failed attempts are repeated; until then, wake-ups of other processes are lost. */
  constructor(connection: RedisConnection) {
    const { clients, isCluster, settings } = connection;
    this.#connection = connection;
    this.#self = settings.ids.random();
    this.#subscriber = isCluster ? clients.cluster({ shardedSubscribers: true }) : clients.single();
    this.#channels = isCluster
      ? Array.from({ length: PARTITIONS }, (_, partition) => `${settings.prefix}{p${partition}}wake`)
      : [`${settings.prefix}wake`];
    this.#missing = new Set(this.#channels);
    const listener: PlacedListener = {
      taskChanged: (key) => this.#local.taskChanged(key),
      cancelAsked: (key) => this.#local.cancelAsked(key),
      placed: (kind, agent, partition) => {
        // First of all, because the partition must be listed before a claim follows.
        for (const watcher of this.#watchers) watcher(kind, agent, partition);
        this.#local[kind](agent);
      },
    };
    const receive = (_: string, message: string) => readWakeups(message, this.#self, listener);
    const subscriber = this.#subscriber;
    // The driver reconnects by itself. In a cluster it also repeats its subscriptions.
    subscriber.on('error', () => {});
    subscriber.on('message', receive);
    subscriber.on('smessage', receive);
    subscriber.on('ready', () => {
      if (!isCluster) for (const channel of this.#channels) this.#missing.add(channel);
      void this.#look();
    });
    ignoreRejection(subscriber.connect());
  }

  subscribe(listener: Partial<WakeupListener>): () => void {
    return this.#local.subscribe(listener);
  }

  taskChanged(key: TaskKey): void {
    this.#local.taskChanged(key);
    this.#batchOf(partitionOf(key.scope)).task('taskChanged', key);
  }

  cancelAsked(key: TaskKey): void {
    this.#local.cancelAsked(key);
    this.#batchOf(partitionOf(key.scope)).task('cancelAsked', key);
  }

  workReady(agent: string, partition = placeOf(agent)): void {
    this.#local.workReady(agent);
    this.#batchOf(partition).placed('workReady', agent, partition);
  }

  deliveryReady(agent: string, partition = placeOf(agent)): void {
    this.#local.deliveryReady(agent);
    this.#batchOf(partition).placed('deliveryReady', agent, partition);
  }

  /** Calls a watcher with the partitions in which another process has work. */
  watchPlaces(watcher: PlacedListener['placed']): void {
    this.#watchers.add(watcher);
  }

  /** Sends the waiting messages, and ends the subscriptions. The connection must still be open. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancel?.();
    this.#cancelLook?.();
    await this.#send();
    this.#subscriber.disconnect();
  }

  /** Repeats failed subscriptions. Detects a dead connection by a PING without an answer. */
  async #look(): Promise<void> {
    const subscriber = this.#subscriber;
    this.#cancelLook?.();
    if (this.#isClosed) return;
    const asked = [...this.#missing].map(async (channel) => {
      await ('nodes' in subscriber ? subscriber.ssubscribe(channel) : subscriber.subscribe(channel));
      this.#missing.delete(channel);
    });
    if (!('nodes' in subscriber)) asked.push(subscriber.ping().then(() => {}));
    await Promise.allSettled(asked);
    if (this.#isClosed) return;
    this.#cancelLook?.();
    this.#cancelLook = this.#connection.settings.clock.after(LOOK_MS, () => void this.#look());
  }

  #batchOf(partition: number): WakeupBatch {
    const channel = this.#channels[partition] ?? this.#channels[0] ?? '';
    let batch = this.#batches.get(channel);
    if (batch === undefined) {
      batch = new WakeupBatch();
      this.#batches.set(channel, batch);
    }
    this.#sendSoon();
    return batch;
  }

  #sendSoon(): void {
    if (this.#isDue || this.#isClosed) return;
    this.#isDue = true;
    const { clock } = this.#connection.settings;
    const wait = this.#sentAt + TOGETHER_MS - clock.monotonic();
    const send = () => void this.#send();
    if (wait > 0) this.#cancel = clock.after(wait, send);
    else clock.soon(send);
  }

  async #send(): Promise<void> {
    this.#isDue = false;
    this.#sentAt = this.#connection.settings.clock.monotonic();
    const batches = [...this.#batches];
    this.#batches.clear();
    const messages = batches.flatMap(([channel, batch]) =>
      batch.take(this.#self).map((text) => [channel, text] as const),
    );
    const sent = messages.map(([channel, text]) =>
      this.#connection.call((client) =>
        this.#connection.isCluster ? client.spublish(channel, text) : client.publish(channel, text),
      ),
    );
    // A lost message only delays its receivers.
    await Promise.allSettled(sent);
  }
}

/** Returns the channel of a wake-up without a partition. */
function placeOf(agent: string): number {
  return partitionOf({ agent, tenant: '', owner: null });
}
