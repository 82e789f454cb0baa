import type * as Jose from 'jose';
import type { Artifact, JsonObject, Logger, Message, Part, TaskState } from 'parley-a2a';
import {
  cloneJson,
  DEFAULT_ENGINE_LIMITS,
  ignoreRejection,
  isInterrupted,
  isObject,
  isTerminal,
  type QuestionChange,
  type RawEvent,
  SIGNING_EXTENSION,
} from 'parley-a2a/kit';
import type {
  ArtifactContent,
  ArtifactInfo,
  Clock,
  EventQueue,
  IdSource,
  RequestContext,
  StatusContent,
  StatusInfo,
} from 'parley-a2a/server';
import { artifactText, messageText, OPTIONAL_IDS, type OptionalId, statusText } from './canonical-content.js';
import { withCarriedLabels } from './carried-labels.js';
import type { ContentSigner } from './content-signer.js';
import type { PartSealer } from './part-encryption.js';
import type { SignedClaims } from './signature-header.js';
import { SignedArtifacts } from './signed-artifacts.js';

/** The ports of signed answers. */
export interface AnswerSigning {
  readonly library: typeof Jose;
  readonly signer: ContentSigner;
  /** The name of the agent for its callers. */
  readonly issuer: string;
  readonly clock: Clock;
  readonly ids: Pick<IdSource, 'random'>;
  readonly logger: Logger;
}

/** The event queue of the engine for a turn, and the ports that sign and encrypt its events. */
interface SignedTurn {
  readonly events: EventQueue;
  readonly ports: AnswerSigning;
  /** Encrypts parts before they are signed. Absent: encryption is off. */
  readonly sealer?: PartSealer | undefined;
}

const FAILURE = 'The agent gave an invalid response.';
const TOO_FAST = 'The agent published faster than its events can be signed.';
/** Maximum number of events that wait for their signatures. An agent that awaits its events has at most one. */
const MOST_WAITING = 16_384;

const STATES = {
  working: 'TASK_STATE_WORKING',
  inputRequired: 'TASK_STATE_INPUT_REQUIRED',
  authRequired: 'TASK_STATE_AUTH_REQUIRED',
  complete: 'TASK_STATE_COMPLETED',
  fail: 'TASK_STATE_FAILED',
  reject: 'TASK_STATE_REJECTED',
  cancel: 'TASK_STATE_CANCELED',
} as const satisfies Record<string, TaskState>;

/** Signs the events of one turn in order, and passes them on. */
export class SigningQueue implements EventQueue {
  readonly #context: Pick<RequestContext, 'taskId' | 'contextId'>;
  readonly #events: EventQueue;
  readonly #ports: AnswerSigning;
  readonly #sealer: PartSealer | undefined;
  readonly #re: string;
  readonly #artifacts: SignedArtifacts;
  /** True while the first event may still be a direct message. */
  #isDraft: boolean;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #overrun: Promise<never> | undefined;

  private constructor(
    { taskId, contextId, message, task }: RequestContext,
    { events, ports, sealer }: SignedTurn,
    artifacts: SignedArtifacts,
  ) {
    this.#context = { taskId, contextId };
    this.#events = events;
    this.#ports = ports;
    this.#sealer = sealer;
    this.#artifacts = artifacts;
    this.#re = message.messageId;
    this.#isDraft = task === undefined;
  }

  /**
   * Makes the queue of a turn. An attempt after a crash continues with the stored artifacts, from whose parts the
   * hashes for later signatures are computed.
   */
  static async of(context: RequestContext, turn: SignedTurn): Promise<SigningQueue> {
    return new SigningQueue(context, turn, await SignedArtifacts.of(context.task?.artifacts));
  }

  readonly working: EventQueue['working'] = (content, info) => this.#status('working', content, info);
  readonly inputRequired: EventQueue['inputRequired'] = (content, info) => this.#status('inputRequired', content, info);
  readonly authRequired: EventQueue['authRequired'] = (content, info) => this.#status('authRequired', content, info);
  readonly complete: EventQueue['complete'] = (content, info) => this.#status('complete', content, info);
  readonly fail: EventQueue['fail'] = (content, info) => this.#status('fail', content, info);
  readonly reject: EventQueue['reject'] = (content, info) => this.#status('reject', content, info);
  readonly cancel: EventQueue['cancel'] = (content, info) => this.#status('cancel', content, info);

  artifact(content: ArtifactContent, info: ArtifactInfo = {}): Promise<string> {
    const artifactId = info.artifactId ?? this.#ports.ids.random();
    return this.#pass({ content, info }, async (own) => {
      const { lastChunk, ...about } = own.info;
      const given = { ...about, artifactId, parts: partsOf(own.content) };
      const { parts, ...signed } = await this.#signedArtifact(given, false);
      return () => this.#events.artifact(parts, { ...signed, ...(lastChunk !== undefined && { lastChunk }) });
    });
  }

  append(artifactId: string, content: ArtifactContent, info: Omit<ArtifactInfo, 'artifactId'> = {}): Promise<void> {
    return this.#pass({ content, info }, async (own) => {
      const { lastChunk, ...about } = own.info;
      const given = { ...about, artifactId, parts: partsOf(own.content) };
      const { parts, artifactId: _, ...signed } = await this.#signedArtifact(given, true);
      return () => this.#events.append(artifactId, parts, { ...signed, ...(lastChunk !== undefined && { lastChunk }) });
    });
  }

  message(content: StatusContent): Promise<void> {
    return this.#pass(content, async (own) => {
      const reply = await this.#signedReply(own);
      return () => this.#events.message(reply);
    });
  }

  publish(event: RawEvent): Promise<void> {
    return this.#pass(event, async (own) => {
      const signed = await this.#signedEvent(own);
      return () => this.#events.publish(signed);
    });
  }

  flush(): Promise<void> {
    return this.#pass(undefined, async () => () => this.#events.flush());
  }

  /** Passes on a question that the engine asks on behalf of the agent, after all earlier events. */
  readonly question: QuestionChange = (question, publish) =>
    this.#pass(question, async (own) => {
      const signed = await this.#signedMessage(own, 'TASK_STATE_AUTH_REQUIRED');
      return () => publish(signed as Message);
    });

  /** Resolves when all events are passed on. */
  async waitForAll(): Promise<void> {
    for (let last: unknown; last !== this.#last; ) {
      last = this.#last;
      await this.#last;
    }
  }

  #status(name: keyof typeof STATES, content: StatusContent | undefined, info: StatusInfo | undefined): Promise<void> {
    return this.#pass({ content, info }, async (own) => {
      const state = STATES[name];
      if (own.content === undefined) {
        const metadata = { ...own.info?.metadata, ...(await this.#signatureOf(state)) };
        return () => this.#events[name](undefined, { ...own.info, metadata });
      }
      const message = await this.#signedMessage(messageOf(own.content), state);
      return () => this.#events[name](message, own.info);
    });
  }

  /** Signs an event. The engine refuses events that cannot be read. */
  async #signedEvent(event: RawEvent): Promise<RawEvent> {
    if (!isObject(event)) return event;
    if ('message' in event && isObject(event.message)) return { message: await this.#signedReply(event.message) };
    if ('artifactUpdate' in event && isObject(event.artifactUpdate) && isObject(event.artifactUpdate.artifact)) {
      const { artifactUpdate } = event;
      const artifact = await this.#signedArtifact(artifactUpdate.artifact, artifactUpdate.append === true);
      return { artifactUpdate: { ...artifactUpdate, artifact } };
    }
    if ('statusUpdate' in event && isObject(event.statusUpdate) && isObject(event.statusUpdate.status)) {
      const { status, metadata } = event.statusUpdate;
      if (isObject(status.message)) {
        const message = (await this.#signedMessage(status.message, status.state)) as Message;
        return { statusUpdate: { ...event.statusUpdate, status: { ...status, message } } };
      }
      return {
        statusUpdate: { ...event.statusUpdate, metadata: { ...metadata, ...(await this.#signatureOf(status.state)) } },
      };
    }
    if ('task' in event && isObject(event.task) && isObject(event.task.status)) {
      const { task } = event;
      const artifacts: Artifact[] = [];
      this.#artifacts.clear();
      for (const artifact of task.artifacts ?? []) artifacts.push(await this.#signedArtifact(artifact, false));
      const message = task.status.message && (await this.#signedMessage(task.status.message, task.status.state));
      const status = { ...task.status, ...(message && { message: message as Message }) };
      return { task: { ...task, status, ...(artifacts.length > 0 && { artifacts }) } };
    }
    return event;
  }

  async #signedArtifact(content: Artifact, append: boolean): Promise<Artifact> {
    const grown = append ? this.#artifacts.get(content.artifactId) : undefined;
    // Without this extension name, the engine would join texts that are signed separately.
    const given = grown === undefined ? withOwnUri(content) : content;
    const from = grown?.chain.count ?? 0;
    const parts = (await this.#sealer?.artifact(given, { taskId: this.#context.taskId, from })) ?? given.parts;
    const artifact = { ...given, parts: parts.map(withCarriedLabels) };
    const { about, chain } = await this.#artifacts.apply({ artifact, append });
    const text = artifactText(about, chain, this.#context);
    const signed = await this.#ports.signer.sign({ type: 'artifact', text, claims: this.#claims() });
    return { ...artifact, metadata: { ...artifact.metadata, ...signed } };
  }

  /** Signs a direct message. A message on a task completes the task. */
  async #signedReply(content: StatusContent): Promise<Partial<Message>> {
    const ids = this.#isDraft ? (['contextId'] as const) : OPTIONAL_IDS;
    return this.#signedMessage(messageOf(content), 'TASK_STATE_COMPLETED', ids);
  }

  async #signedMessage(
    given: Partial<Message>,
    state: TaskState,
    ids: readonly OptionalId[] = OPTIONAL_IDS,
  ): Promise<Partial<Message>> {
    const { taskId, contextId } = this.#context;
    const { messageId = this.#ports.ids.random(), parts = [] } = given;
    const plain: Message = { role: 'ROLE_AGENT', taskId, contextId, ...withOwnUri(given), messageId, parts };
    const sealed = (await this.#sealer?.message(plain)) ?? plain;
    const message = { ...sealed, parts: sealed.parts.map(withCarriedLabels) };
    const claims = { ...this.#claims(), ids: [...ids], state, ...(await this.#artifactsAt(state)) };
    const signed = await this.#ports.signer.sign({ type: 'message', text: messageText(message, ids), claims });
    return { ...message, metadata: { ...message.metadata, ...signed } };
  }

  /** The signature of a status without a message. */
  async #signatureOf(state: TaskState): Promise<JsonObject> {
    const claims = { ...this.#claims(), state, ...(await this.#artifactsAt(state)) };
    return this.#ports.signer.sign({ type: 'status', text: statusText(state, this.#context), claims });
  }

  async #artifactsAt(state: TaskState): Promise<{ readonly artifacts?: string }> {
    return isTerminal(state) || isInterrupted(state) ? { artifacts: await this.#artifacts.digest() } : {};
  }

  #claims(): SignedClaims {
    return { iss: this.#ports.issuer, iat: Math.floor(this.#ports.clock.now() / 1_000), re: this.#re };
  }

  /** Copies the content at once, because its agent may change it, and publishes it after all earlier events. */
  #pass<Content, Result>(content: Content, sign: (own: Content) => Promise<() => Promise<Result>>): Promise<Result> {
    if (this.#waiting >= MOST_WAITING)
      this.#overrun ??= ignoreRejection(this.#invalid(new RangeError(TOO_FAST), TOO_FAST));
    if (this.#overrun !== undefined) return this.#overrun;
    const own = copyContent(content);
    const before = this.#last;
    this.#waiting += 1;
    const passing = (async () => {
      await before;
      if (this.#overrun !== undefined) return this.#overrun;
      let publish: () => Promise<Result>;
      try {
        if ('error' in own) throw own.error;
        publish = await sign(own.content);
      } catch (error) {
        return this.#invalid(error);
      }
      // A flush begins no task.
      if (content !== undefined) this.#isDraft = false;
      return publish();
    })();
    const leaveQueue = () => {
      this.#waiting -= 1;
    };
    this.#last = passing.then(leaveQueue, leaveQueue);
    return ignoreRejection(passing);
  }

  /** An answer without a canonical form cannot be signed. */
  async #invalid(error: unknown, text = FAILURE): Promise<never> {
    this.#ports.logger.error('the agent gave an answer that cannot be signed', { taskId: this.#context.taskId, error });
    await this.#events.fail(await this.#signedMessage(messageOf(text), 'TASK_STATE_FAILED'));
    throw error;
  }
}

type Copied<Content> = { readonly content: Content } | { readonly error: unknown };

/** Reading an object of an agent may throw. */
function copyContent<Content>(content: Content): Copied<Content> {
  try {
    // The engine copies in the same way, so it stores the values that were signed.
    return {
      content: (content === undefined ? undefined : cloneJson(content, DEFAULT_ENGINE_LIMITS.taskBytes)) as Content,
    };
  } catch (error) {
    return { error };
  }
}

function messageOf(content: StatusContent): Partial<Message> {
  if (typeof content === 'string') return { parts: [{ text: content }] };
  return Array.isArray(content) ? { parts: content as readonly Part[] } : (content as Partial<Message>);
}

function partsOf(content: ArtifactContent): readonly Part[] {
  if (typeof content === 'string') return [{ text: content }];
  return Array.isArray(content) ? (content as readonly Part[]) : [content as Part];
}

/** Names the extension in the content, beside those of the agent (Spec §4.6). */
function withOwnUri<Content extends { readonly extensions?: readonly string[] }>(content: Content): Content {
  return { ...content, extensions: [...new Set([...(content.extensions ?? []), SIGNING_EXTENSION])] };
}
