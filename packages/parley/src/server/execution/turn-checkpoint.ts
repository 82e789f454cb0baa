import { isObject, type JsonObject, type JsonValue } from '../../model/json.js';
import type { HeldTurn } from '../../store/held-turn.js';
import type { Turn } from './turn.js';
import { TurnOverError } from './turn-events.js';

/** Replaces the stored checkpoint of a turn. Returns false if the turn is over. */
export type CheckpointWrite = (held: HeldTurn, stored: JsonValue) => boolean | Promise<boolean>;

/** The member of a stored checkpoint for values of turn ports. */
const KEPT = 'urn:parley-a2a:kept:v1';

/** The checkpoint of the agent, and values that turn ports store with it. Callers can read neither. */
export class TurnCheckpoint {
  readonly #before: JsonValue | undefined;
  readonly #turn: Pick<Turn, 'held' | 'flush'>;
  readonly #write: CheckpointWrite;
  #kept: Map<string, JsonValue> | undefined;
  #value: JsonValue | undefined;
  #last: Promise<void> | undefined;

  /** `stored`: the checkpoint of an earlier attempt. */
  constructor(turn: Pick<Turn, 'held' | 'flush'>, stored: JsonValue | undefined, write: CheckpointWrite) {
    this.#before = stored;
    this.#value = agentCheckpoint(stored);
    this.#turn = turn;
    this.#write = write;
  }

  /**
   * The values of turn ports, of this attempt and of earlier ones. Parsed at the first read, because most turns do not
   * use them.
   */
  get kept(): Map<string, JsonValue> {
    this.#kept ??= new Map(Object.entries(keptIn(this.#before) ?? {}));
    return this.#kept;
  }

  /** Saves a value of the agent. */
  save(value: JsonValue): Promise<void> {
    this.#value = value;
    return this.store();
  }

  /** Writes all values after the commit of all events so far. Writes run one after another. */
  store(): Promise<void> {
    return this.#next(async () => {
      await this.#turn.flush();
      return this.#stored;
    });
  }

  /** Writes the values now. Earlier events may be committed later. */
  storeAhead(): Promise<void> {
    const stored = this.#stored;
    return this.#next(() => stored);
  }

  #next(take: () => JsonValue | Promise<JsonValue>): Promise<void> {
    const before = this.#last;
    this.#last = (async () => {
      if (before !== undefined) await before.catch(() => {});
      const stored = await take();
      const { held } = this.#turn;
      if (!(held && (await this.#write(held, stored)))) throw new TurnOverError();
    })();
    return this.#last;
  }

  get #stored(): JsonValue {
    const value = this.#value;
    if (value !== undefined && this.kept.size === 0 && keptIn(value) === undefined) return value;
    return { [KEPT]: Object.fromEntries(this.kept), ...(value !== undefined && { value }) };
  }
}

/** Returns the value of the agent in a stored checkpoint. */
export function agentCheckpoint(stored: JsonValue | undefined): JsonValue | undefined {
  return keptIn(stored) === undefined ? stored : (stored as JsonObject).value;
}

/** Returns the values of the engine and of turn ports in a stored checkpoint. */
export function keptIn(stored: JsonValue | undefined): JsonObject | undefined {
  const kept = isObject(stored) ? stored[KEPT] : undefined;
  return isObject(kept) ? (kept as JsonObject) : undefined;
}
