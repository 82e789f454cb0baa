import { signal } from '@preact/signals';
import type { Agent } from './agents.js';
import { CONSOLE_PATH, fetchHere } from './launch.js';

/** A push notification that the server of this page has received. Secrets are left out. */
export interface Delivery {
  readonly number: number;
  readonly at: number;
  readonly status: number;
  readonly reason?: string;
  readonly attempt?: number;
  readonly isDuplicate: boolean;
  readonly isLate: boolean;
  readonly signature: 'absent' | 'verified' | 'invalid' | 'unchecked';
  readonly signer?: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: { readonly text: string; readonly length: number };
}

/** A webhook of this page. It is stored in the tab, so that it survives a reload. */
interface OpenInbox {
  readonly url: string;
  readonly token: string;
  readonly key: string;
  /** The number of tasks whose notifications go here, and the time of the last registration. */
  readonly tasks: number;
  readonly registeredAt: number;
}

/** The facts of an inbox. */
export interface InboxState {
  readonly inbox: OpenInbox | undefined;
  /** The latest ones, the latest first. */
  readonly deliveries: readonly Delivery[];
  /** The number of all of them. */
  readonly count: number;
  readonly failure: string | undefined;
}

const INBOX_PATH = `${CONSOLE_PATH}/inbox`;
const EMPTY: InboxState = { inbox: undefined, deliveries: [], count: 0, failure: undefined };
const RETRY_MS = 2_000;

/** The push inbox of an agent. */
class PushInbox {
  readonly state;
  readonly #agent: Agent;
  readonly #storageKey: string;

  constructor(agent: Agent) {
    this.#agent = agent;
    this.#storageKey = storageKey(agent.path);
    const kept = sessionStorage.getItem(this.#storageKey);
    this.state = signal<InboxState>({ ...EMPTY, inbox: kept === null ? undefined : JSON.parse(kept) });
  }

  /** Asks the agent to send the notifications of a task here. */
  async register(taskId: string): Promise<void> {
    const inbox = this.state.value.inbox ?? (await this.#open());
    const { url, token } = inbox;
    const client = await this.#agent.client();
    await client.createTaskPushNotificationConfig({ taskId, url, token });
    this.#keep({ ...inbox, tasks: inbox.tasks + 1, registeredAt: Date.now() });
  }

  /** Answers the next notification with an error. */
  async failNext(): Promise<void> {
    await this.#ask({ key: this.state.value.inbox?.key, fail: true });
  }

  /** Follows the deliveries until the signal aborts. */
  async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.state.value.inbox !== undefined) {
      const { inbox, count } = this.state.value;
      try {
        const read = (await this.#ask({ key: inbox?.key, after: count }, signal)) as Pick<
          InboxState,
          'deliveries' | 'count'
        >;
        this.state.value = { ...this.state.value, ...read, failure: undefined };
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ClosedInbox) return this.#forget();
        this.state.value = { ...this.state.value, failure: 'The server of this page cannot be reached. Trying again.' };
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async #open(): Promise<OpenInbox> {
    const opened = (await this.#ask({ open: this.#agent.path })) as Pick<OpenInbox, 'url' | 'token' | 'key'>;
    return this.#keep({ ...opened, tasks: 0, registeredAt: Date.now() });
  }

  #keep(inbox: OpenInbox): OpenInbox {
    sessionStorage.setItem(this.#storageKey, JSON.stringify(inbox));
    this.state.value = { ...this.state.value, inbox };
    return inbox;
  }

  #forget(): void {
    sessionStorage.removeItem(this.#storageKey);
    this.state.value = {
      ...EMPTY,
      failure: 'The server has closed this inbox. Send notifications here again from a task.',
    };
  }

  async #ask(question: object, signal?: AbortSignal): Promise<unknown> {
    const answer = await fetchHere(INBOX_PATH, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(question),
      ...(signal !== undefined && { signal }),
    });
    if (answer.status === 404) throw new ClosedInbox('This server takes push notifications only from its own machine');
    if (!answer.ok) throw new Error(`the server of this page answered ${answer.status}`);
    return answer.json();
  }
}

class ClosedInbox extends Error {
  override readonly name = 'ClosedInbox';
}

const storageKey = (path: string): string => `parley-console:inbox:${path}`;

/** Deletes the inbox of an agent, so that the next user of this tab does not read it. */
export function forgetInbox(path: string): void {
  sessionStorage.removeItem(storageKey(path));
}

const inboxes = new WeakMap<Agent, PushInbox>();

/** The inbox of an agent, as long as the user stays the same. */
export function inboxOf(agent: Agent): PushInbox {
  const known = inboxes.get(agent) ?? new PushInbox(agent);
  inboxes.set(agent, known);
  return known;
}

const LOOPBACK = /^(?:localhost|127\.[\d.]+|\[::1\])$/;

/** The reason why an agent on another machine cannot reach an inbox. Undefined if it can. */
export function unreachableReason({ place, card }: Agent): string | undefined {
  const host = URL.parse(card.supportedInterfaces[0]?.url ?? '')?.hostname;
  if (place.calls === undefined || host === undefined || LOOPBACK.test(host)) return undefined;
  return (
    `The agent is at ${host}, and this inbox is on loopback, where only programs of this machine reach it. ` +
    'Receive at an address that the agent reaches: parley push receive --host.'
  );
}

/** A refusal of the inbox, with the remedy. An agent's guard refuses private addresses as invalid. */
export function refusalOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const { code } = Object(error) as { readonly code?: unknown };
  if (code !== 'INVALID_PARAMS') return message;
  return (
    `${message}. If the agent calls only public addresses, allow this one where the agent runs: ` +
    `A2A_PUSH_ALLOW=${location.host}, or push: { allow: ['${location.host}'] } in its code.`
  );
}
