import type { Clock } from 'parley-a2a/server';
import { invalid, members } from './session-values.js';

/** The answer of a peer to a call. */
type PendingResult = PromiseLike<unknown> & Disposable;

/** An object or a function of a peer. Every member seems to exist. */
interface PeerStub {
  (...args: readonly unknown[]): PendingResult;
  dup(): PeerStub;
  [Symbol.dispose](): void;
  readonly id: PromiseLike<unknown>;
  readonly subscriptionId: PromiseLike<unknown>;
  readonly onStatusUpdate: PromiseLike<unknown> & PeerStub;
  readonly onArtifactUpdate: PeerStub;
}

/** An event for a callback. */
export interface CallbackEvent {
  readonly type: 'status' | 'artifact';
  readonly taskId: string;
}

/** A callback of a peer. */
export interface TaskCallback {
  /** The name that the peer gave it. */
  readonly id: string | undefined;
  /** Resolves when the callback has returned. */
  take(event: CallbackEvent): PromiseLike<unknown>;
  [Symbol.dispose](): void;
}

/** Time limit for a peer to answer for a member of its object, in ms. */
const ANSWER_MS = 30_000;

/** True for an object or a function of a peer, and not for plain data. */
export function isPeerStub(value: unknown): value is PeerStub {
  return typeof value === 'function';
}

/** A member of an object of a peer; `undefined` if there is none, or if the peer does not answer in time. */
export async function memberOf(member: PromiseLike<unknown>, clock: Clock): Promise<unknown> {
  const late = Promise.withResolvers<undefined>();
  const stopTimer = clock.after(ANSWER_MS, () => late.resolve(undefined));
  try {
    return await Promise.race([Promise.resolve(member).catch(() => undefined), late.promise]);
  } finally {
    stopTimer();
  }
}

/**
 * Keeps a callback after the call that passed it: a function, an object of a class, or a plain object with functions.
 * @throws InvalidParamsError for anything else.
 */
export async function keptCallback(given: unknown, clock: Clock): Promise<TaskCallback> {
  if (!isPeerStub(given)) return plainCallback(members(given, 'callback'));
  const stub = given.dup();
  const method = await memberOf(stub.onStatusUpdate, clock);
  if (!isPeerStub(method)) return callbackOf({ status: stub, artifact: stub, held: [stub] });
  method[Symbol.dispose]();
  const id = await memberOf(stub.id, clock);
  return callbackOf({
    id,
    status: (event) => stub.onStatusUpdate(event),
    artifact: (event) => stub.onArtifactUpdate(event),
    held: [stub],
  });
}

function plainCallback({ id, onStatusUpdate, onArtifactUpdate }: Readonly<Record<string, unknown>>): TaskCallback {
  const [status, artifact] = [onStatusUpdate, onArtifactUpdate].map((method) =>
    isPeerStub(method) ? method.dup() : undefined,
  );
  if (status === undefined && artifact === undefined)
    throw invalid('callback', 'must be a function, or an object with onStatusUpdate or onArtifactUpdate');
  return callbackOf({ id, status, artifact, held: [status, artifact] });
}

interface CallbackOptions {
  readonly id?: unknown;
  /** Absent: the callback has no function for these events. */
  readonly status: ((event: CallbackEvent) => PendingResult) | undefined;
  readonly artifact: ((event: CallbackEvent) => PendingResult) | undefined;
  readonly held: readonly (PeerStub | undefined)[];
}

function callbackOf({ id, held, ...methods }: CallbackOptions): TaskCallback {
  return {
    id: typeof id === 'string' ? id : undefined,
    async take(event) {
      const answer = methods[event.type]?.(event);
      try {
        await answer;
      } finally {
        answer?.[Symbol.dispose]();
      }
    },
    [Symbol.dispose]: () => {
      for (const stub of held) stub?.[Symbol.dispose]();
    },
  };
}
