import type { EventStore, StreamId } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { IdSource } from 'parley-a2a/server';

interface SentEvent {
  readonly session: object;
  readonly streamId: StreamId;
  readonly message: JSONRPCMessage;
  readonly bytes: number;
}

/** Bytes of an event without its message. */
const EVENT_BYTES = 200;

/** The last events of all sessions, for clients that lost their connection. The oldest are dropped for new ones. */
export class ReplayBuffer {
  readonly #events = new Map<string, SentEvent>();
  readonly #ids: Pick<IdSource, 'random'>;
  readonly #mostBytes: number;
  #bytes = 0;

  constructor({ ids, bytes }: { readonly ids: Pick<IdSource, 'random'>; readonly bytes: number }) {
    this.#ids = ids;
    this.#mostBytes = bytes;
  }

  /** The event store of one session, which cannot read events of others. */
  ofSession(): EventStore & { end(): void } {
    const session = {};
    const findEvent = (id: string) => {
      const event = this.#events.get(id);
      return event?.session === session ? event : undefined;
    };
    return {
      storeEvent: async (streamId, message) => this.#add({ session, streamId, message }),
      getStreamIdForEventId: async (id) => findEvent(id)?.streamId,
      replayEventsAfter: async (lastId, { send }) => {
        const last = findEvent(lastId);
        if (last === undefined) throw new Error('The event is no longer known');
        for (const [id, event] of this.#after(lastId, last)) await send(id, event.message);
        return last.streamId;
      },
      end: () => {
        for (const [id, event] of this.#events) if (event.session === session) this.#remove(id, event);
      },
    };
  }

  #add(event: Omit<SentEvent, 'bytes'>): string {
    const id = this.#ids.random();
    const bytes = JSON.stringify(event.message).length * 2 + EVENT_BYTES;
    this.#events.set(id, { ...event, bytes });
    this.#bytes += bytes;
    for (const [oldest, one] of this.#events) {
      if (this.#bytes <= this.#mostBytes) break;
      this.#remove(oldest, one);
    }
    return id;
  }

  /** The events of the same stream after an event. The first event of a stream has no message. */
  #after(lastId: string, { session, streamId }: SentEvent): readonly (readonly [string, SentEvent])[] {
    const events = [...this.#events];
    const at = events.findIndex(([id]) => id === lastId);
    return events
      .slice(at + 1)
      .filter(([, one]) => one.session === session && one.streamId === streamId && Object.keys(one.message).length > 0);
  }

  #remove(id: string, { bytes }: SentEvent): void {
    this.#events.delete(id);
    this.#bytes -= bytes;
  }
}
