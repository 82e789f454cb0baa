import type { Clock } from 'parley-a2a/server';
import { GRPC_STATUS } from '../binding/grpc-status.js';
import { plainTrailers } from '../binding/grpc-trailers.js';
import { askedService, HEALTH_STATE, type HealthState, healthAnswer } from '../binding/health-messages.js';
import type { GrpcHandler, GrpcStream } from './grpc-stream.js';

/** The source of health. */
interface GrpcHealthOptions {
  /** True while the server is ready. */
  readonly isReady: () => Promise<boolean>;
  /** The names of the services. */
  readonly services: readonly string[];
  readonly clock: Clock;
}

const LOOK_MS = 1_000;
/** Maximum number of concurrent watchers. */
export const MOST_WATCHERS = 1_000;

/** The health of a server: `SERVING` while it is ready, for all of its services. */
export class GrpcHealth {
  readonly #options: GrpcHealthOptions;
  readonly #watchers = new Set<HealthWatch>();
  #stopTimer: (() => void) | undefined;
  #isStopping = false;

  constructor(options: GrpcHealthOptions) {
    this.#options = options;
  }

  /** The state of a service now; "" for the whole server. */
  async stateOf(service: string): Promise<HealthState> {
    if (service !== '' && !this.#options.services.includes(service)) return HEALTH_STATE.SERVICE_UNKNOWN;
    if (this.#isStopping) return HEALTH_STATE.NOT_SERVING;
    return (await this.#options.isReady()) ? HEALTH_STATE.SERVING : HEALTH_STATE.NOT_SERVING;
  }

  /** Sets all services to not serving, notifies all watchers, and ends their streams. */
  stop(): void {
    this.#isStopping = true;
    this.#stopTimer?.();
    for (const watcher of this.#watchers) watcher.tell(HEALTH_STATE.NOT_SERVING);
  }

  /** False if there are too many watchers, and no other address has more of them. */
  add(watcher: HealthWatch): boolean {
    if (this.#watchers.size >= MOST_WATCHERS && !this.#makeRoomFor(watcher)) return false;
    this.#watchers.add(watcher);
    if (this.#watchers.size === 1) this.#lookLater();
    return true;
  }

  remove(watcher: HealthWatch): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size === 0) this.#stopTimer?.();
  }

  /** Ends the oldest watch of the address that has the most. */
  #makeRoomFor({ peer }: HealthWatch): boolean {
    const counts = new Map<string | undefined, number>();
    for (const watcher of this.#watchers) counts.set(watcher.peer, (counts.get(watcher.peer) ?? 0) + 1);
    const most = Math.max(...counts.values());
    if (counts.get(peer) === most) return false;
    for (const watcher of this.#watchers) {
      if (counts.get(watcher.peer) !== most) continue;
      this.#watchers.delete(watcher);
      watcher.makeRoom();
      return true;
    }
    return false;
  }

  #lookLater(): void {
    this.#stopTimer?.();
    this.#stopTimer = this.#options.clock.after(LOOK_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    for (const watcher of this.#watchers) watcher.tell(await this.stateOf(watcher.service));
    if (this.#watchers.size > 0 && !this.#isStopping) this.#lookLater();
  }
}

/** A client that watches a service, and is notified of each change. */
export interface HealthWatch {
  readonly service: string;
  /** The address of the client. */
  readonly peer: string | undefined;
  tell(state: HealthState): void;
  /** Ends the watch to free its place. */
  makeRoom(): void;
}

/** A call of the health service, open to all callers like the probes of HTTP. */
export class HealthCall implements GrpcHandler, HealthWatch {
  service = '';
  readonly #stream: GrpcStream;
  readonly #health: GrpcHealth;
  readonly #watches: boolean;
  #told: HealthState | undefined;

  constructor(stream: GrpcStream, health: GrpcHealth, watches: boolean) {
    this.#stream = stream;
    this.#health = health;
    this.#watches = watches;
  }

  get peer(): string | undefined {
    return this.#stream.peer;
  }

  ready(message: Uint8Array | undefined): void {
    const asked = message === undefined ? this.#stream.readMessage(LONGEST_REQUEST) : Promise.resolve(message);
    asked
      .then((bytes) => this.#answer(bytes))
      .catch(() => this.#refuse(GRPC_STATUS.INVALID_ARGUMENT, 'The message cannot be read'));
  }

  tell(state: HealthState): void {
    if (state === this.#told) return;
    this.#told = state;
    void this.#stream.write(healthAnswer(state));
  }

  makeRoom(): void {
    this.#refuse(GRPC_STATUS.RESOURCE_EXHAUSTED, TOO_MANY);
  }

  over(): void {
    this.#health.remove(this);
  }

  stop(): void {
    this.#refuse(GRPC_STATUS.UNAVAILABLE, 'The server stops');
  }

  async #answer(bytes: Uint8Array): Promise<void> {
    this.service = askedService(bytes);
    const state = await this.#health.stateOf(this.service);
    if (!this.#watches) {
      if (state === HEALTH_STATE.SERVICE_UNKNOWN) this.#refuse(GRPC_STATUS.NOT_FOUND, 'Unknown service');
      else this.#stream.answer(healthAnswer(state), {});
      return;
    }
    if (this.#stream.isOver) return;
    if (!this.#health.add(this)) return this.#refuse(GRPC_STATUS.RESOURCE_EXHAUSTED, TOO_MANY);
    if (this.#stream.begin({})) this.tell(state);
  }

  #refuse(code: number, message: string): void {
    this.#stream.end(plainTrailers(code, message));
  }
}

const LONGEST_REQUEST = 4_096;
const TOO_MANY = 'Too many clients watch the health';
