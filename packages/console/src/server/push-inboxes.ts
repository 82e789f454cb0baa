import { randomBytes } from 'node:crypto';
import { Inbox, type InboxAnswer, type InboxReceiverOptions, type InboxRequest, type Receiver } from './inbox.js';
import type { RelayedAnswer } from './oauth-relay.js';

/** Options of `PushInboxes`. */
export interface PushInboxesOptions {
  /** Makes a webhook of the library for an agent. */
  readonly receiver: (options: InboxReceiverOptions, agent: string) => Promise<Receiver>;
  /** The url of the public keys of an agent. The second value is the url of the console. */
  readonly keysUrl: (agent: string, place: string) => string | undefined;
}

const MOST_INBOXES = 16;
const HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/**
 * Webhooks for push notifications that belong to pages of the console. A page opens an inbox, and reads it with a key
 * that only this page has. An agent calls it under a random name.
 */
export class PushInboxes {
  readonly #options: PushInboxesOptions;
  /** By the name of the webhook, the least recently read first. */
  readonly #inboxes = new Map<string, Inbox>();

  constructor(options: PushInboxesOptions) {
    this.#options = options;
  }

  /**
   * Answers a page of the console at a url: `{ open }`, `{ key, after }` or `{ key, fail }`. A read waits for the next
   * delivery.
   */
  async ask(text: string, place: string): Promise<RelayedAnswer> {
    const { open, key, after, fail } = objectIn(text);
    if (typeof open === 'string') {
      if (URL.canParse(place)) return answer(200, this.#open(open, place));
      return answer(400, { error: { code: 400, message: 'Only a page opens an inbox' } });
    }
    const found = [...this.#inboxes].find(([, inbox]) => inbox.key === key);
    if (found === undefined) return answer(404, { error: { code: 404, message: 'This inbox is closed' } });
    const [name, inbox] = found;
    this.#inboxes.delete(name);
    this.#inboxes.set(name, inbox);
    if (fail === true) inbox.failNext();
    else await inbox.changed(typeof after === 'number' ? after : 0);
    return answer(200, { count: inbox.count, deliveries: inbox.deliveries });
  }

  /** Answers an agent. A closed inbox answers 410. */
  async take(name: string, request: InboxRequest): Promise<InboxAnswer> {
    const inbox = this.#inboxes.get(name);
    return inbox?.take(request) ?? answer(410, { error: 'this inbox is closed' });
  }

  /** Ends all waits of pages. */
  close(): void {
    for (const inbox of this.#inboxes.values()) inbox.close();
  }

  #open(agent: string, place: string) {
    const name = randomBytes(24).toString('base64url');
    const inbox = new Inbox({
      receiver: (options) => this.#options.receiver(options, agent),
      url: `${place}/inbox-${name}`,
      keysUrl: this.#options.keysUrl(agent, place),
    });
    this.#inboxes.set(name, inbox);
    const [oldest] = this.#inboxes;
    if (this.#inboxes.size > MOST_INBOXES && oldest !== undefined) {
      oldest[1].close();
      this.#inboxes.delete(oldest[0]);
    }
    return { url: inbox.url, token: inbox.token, key: inbox.key };
  }
}

function answer(status: number, value: unknown): RelayedAnswer {
  return { status, headers: HEADERS, body: JSON.stringify(value) };
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
