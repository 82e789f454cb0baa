import type { Artifact, Message, StreamResponse, Task, TaskStatusUpdateEvent } from 'parley-a2a';
import { SIGNING_EXTENSION } from 'parley-a2a/kit';
import { artifactText, messageText, OPTIONAL_IDS, statusText, type TaskIds } from './canonical-content.js';
import type { ContentVerifier, VerifiedSignature } from './content-verifier.js';
import { plainAudience } from './message-intake.js';
import type { SignatureHeader } from './signature-header.js';
import { type SignedArtifact, SignedArtifacts } from './signed-artifacts.js';
import { ENGINE_ENDS, endsTurn, hasOwnSignature } from './signed-ends.js';
import { UntrustedContentError } from './untrusted-content-error.js';
import type { VerifiedSigner } from './verified-signers.js';

/** The rules for answers of an agent. */
export interface AnswerRules {
  readonly verifier: ContentVerifier;
  /** The name of the agent in its signatures. */
  readonly issuer: string;
  /** True if unsigned content is refused. */
  readonly required: boolean;
  /** True if FAILED and CANCELED are accepted without a signature. */
  readonly takesUnsignedEnds: boolean;
}

/** Facts about an answer that its reader knows before. */
export interface ExpectedAnswer {
  /** The id of the message that was sent. */
  readonly re?: string | undefined;
  /** True if the message began its task, so that the first end of a turn answers this message. */
  readonly isNew?: boolean;
  /** False if artifacts may be left out, as in a list. Default: true. */
  readonly hasArtifacts?: boolean;
  /** The id of the requested task. Absent: the call names none. */
  readonly taskId?: string | undefined;
  /** The time when the message was signed, in seconds. An end that answers another message may be older. */
  readonly since?: number | undefined;
}

/** A task in a stream, with what its reader has seen so far. */
export interface SeenTask {
  readonly taskId: string;
  readonly artifacts: SignedArtifacts;
}

/** Maximum difference between the clocks of a reader and an agent, in seconds. */
const TOLERANCE_S = 60;

/** A status with the task that it belongs to. */
interface StatusOfTask extends Pick<TaskStatusUpdateEvent, 'taskId' | 'contextId' | 'status'> {
  readonly metadata: TaskStatusUpdateEvent['metadata'];
  /** True for a status in a stream. A snapshot has a signature for the end of a turn only. */
  readonly isLive: boolean;
}

/**
 * Verifies messages, artifacts and tasks of an agent.
 * @throws UntrustedContentError naming the field at fault.
 */
export class AnswerVerifier {
  readonly #rules: AnswerRules;

  constructor(rules: AnswerRules) {
    this.#rules = rules;
  }

  /** A direct message: the answer to a message that started no task. */
  async message(message: Message, { re }: ExpectedAnswer = {}): Promise<readonly VerifiedSigner[]> {
    const found = await this.#message(message, 'message', ({ re: own }) =>
      re === undefined || own === re ? undefined : 'is over the answer to another message (re)',
    );
    return this.#signers(found, 'message');
  }

  /** An artifact of a task, with all of its parts. */
  async artifact(artifact: Artifact, ids: TaskIds): Promise<readonly VerifiedSigner[]> {
    const { parts: _, ...about } = artifact;
    const artifacts = await SignedArtifacts.of([artifact]);
    return this.#artifact(about.metadata, artifacts.get(artifact.artifactId), { ids, field: 'artifact' });
  }

  /** A status of a task. Without the artifacts of the task, their hash is not compared. */
  async status(
    { metadata, ...update }: TaskStatusUpdateEvent,
    artifacts: readonly Artifact[] | undefined,
  ): Promise<void> {
    const hasArtifacts = artifacts !== undefined;
    await this.#status({ ...update, metadata, isLive: true }, await SignedArtifacts.of(artifacts), { hasArtifacts });
  }

  /** A task in an answer. Returns its state for the events that follow. */
  async task(task: Task, expected: ExpectedAnswer = {}): Promise<SeenTask> {
    const { id: taskId, contextId = '', status, history = [], artifacts: list = [], metadata } = task;
    if (expected.taskId !== undefined && expected.taskId !== taskId)
      throw new UntrustedContentError('task.id', 'is that of another task');
    const artifacts = await SignedArtifacts.of(list);
    const ids = { taskId, contextId };
    for (const [at, { artifactId, metadata: own }] of list.entries())
      await this.#artifact(own, artifacts.get(artifactId), { ids, field: `task.artifacts[${at}]` });
    for (const [at, message] of history.entries()) {
      if (message.role !== 'ROLE_AGENT') continue;
      const field = `task.history[${at}]`;
      this.#signers(await this.#message(message, field, (header) => placeFault(header, message, ids)), field);
    }
    await this.#status({ ...ids, status, metadata, isLive: false }, artifacts, expected);
    return { taskId, artifacts };
  }

  /** One event of a stream. `seen` is the task before it; it returns the task after it. */
  async event(
    event: StreamResponse,
    seen: SeenTask | undefined,
    expected: ExpectedAnswer,
  ): Promise<SeenTask | undefined> {
    if (event.message !== undefined) {
      await this.message(event.message, expected);
      return seen;
    }
    if (event.task !== undefined)
      return this.task(event.task, { ...expected, taskId: seen?.taskId ?? expected.taskId });
    if (seen === undefined)
      throw new UntrustedContentError('stream', 'begins without its task. Subscribe without lastEventId');
    const { artifacts } = seen;
    const { taskId, contextId, metadata } =
      event.artifactUpdate !== undefined ? event.artifactUpdate : event.statusUpdate;
    if (taskId !== seen.taskId) throw new UntrustedContentError('stream', 'has an event of another task');
    if (event.artifactUpdate !== undefined) {
      const { artifact, append } = event.artifactUpdate;
      const next = await artifacts.apply({ artifact, ...(append !== undefined && { append }) });
      await this.#artifact(artifact.metadata, next, { ids: { taskId, contextId }, field: 'artifactUpdate.artifact' });
      return seen;
    }
    await this.#status({ ...event.statusUpdate, metadata, isLive: true }, artifacts, expected);
    return seen;
  }

  async #artifact(
    metadata: Artifact['metadata'],
    signed: SignedArtifact | undefined,
    { ids, field }: { readonly ids: TaskIds; readonly field: string },
  ): Promise<readonly VerifiedSigner[]> {
    if (signed === undefined) throw new UntrustedContentError(field, 'is not part of its task');
    const found = await this.#rules.verifier.verify({
      type: 'artifact',
      metadata,
      field: `${field}.metadata`,
      text: () => artifactText(signed.about, signed.chain, ids),
      fault: (header) => this.#issuerFault(header),
    });
    return this.#signers(found, field);
  }

  /** A status: by the signature of its message, or else by that in the metadata of its event or task. */
  async #status(
    { taskId, contextId, status, metadata, isLive }: StatusOfTask,
    artifacts: SignedArtifacts,
    expected: ExpectedAnswer,
  ): Promise<void> {
    const { state, message } = status;
    const isEnd = endsTurn(state);
    const ids = { taskId, contextId };
    const digest = isEnd && expected.hasArtifacts !== false ? await artifacts.digest() : undefined;
    const fault = (header: SignatureHeader): string | undefined => {
      if (header.state !== state) return 'is over another state';
      if (digest !== undefined && header.artifacts !== digest) return 'is over other artifacts of the task';
      if (!isEnd || header.re === expected.re) return undefined;
      if (expected.isNew === true) return 'is over the answer to another message (re)';
      const isOld = expected.since !== undefined && header.iat < expected.since - TOLERANCE_S;
      return isOld ? 'is older than the message (iat)' : undefined;
    };
    if (message !== undefined && hasOwnSignature(status)) {
      const field = 'status.message';
      const found = await this.#message(message, field, (header) => placeFault(header, message, ids) ?? fault(header));
      this.#signers(found, field);
      return;
    }
    if (!isEnd && !isLive) return;
    const field = isLive ? 'statusUpdate' : 'task';
    const found = await this.#rules.verifier.verify({
      type: 'status',
      metadata,
      field: `${field}.metadata`,
      text: () => statusText(state, ids, message),
      fault: (header) => this.#issuerFault(header) ?? fault(header),
    });
    if (!isEnd || (this.#rules.takesUnsignedEnds && ENGINE_ENDS.includes(state))) return;
    this.#signers(found, field, `is missing: ${state} is not signed, so anybody may have written it`);
  }

  #message(
    message: Message,
    field: string,
    fault: (header: SignatureHeader) => string | undefined,
  ): Promise<readonly VerifiedSignature[]> {
    return this.#rules.verifier.verify({
      type: 'message',
      metadata: message.metadata,
      field: `${field}.metadata`,
      text: ({ ids = [] }) => messageText(message, ids),
      fault: (header) =>
        message.role === 'ROLE_AGENT' ? (this.#issuerFault(header) ?? fault(header)) : 'is over a message of a user',
    });
  }

  #issuerFault({ iss, aud }: SignatureHeader): string | undefined {
    if (aud !== undefined) return 'is over a message to an agent, not over an answer';
    const isOwn = iss !== undefined && plainAudience(iss) === plainAudience(this.#rules.issuer);
    return isOwn ? undefined : 'is by another agent (iss)';
  }

  #signers(
    found: readonly VerifiedSignature[],
    field: string,
    fault = 'is missing: the answer is not signed',
  ): readonly VerifiedSigner[] {
    if (found.length === 0 && this.#rules.required)
      throw new UntrustedContentError(`${field}.metadata[${JSON.stringify(SIGNING_EXTENSION)}]`, fault);
    return found.map(({ signer }) => signer);
  }
}

/** The fault of a message that was signed for another task. */
function placeFault({ ids = [] }: SignatureHeader, message: Message, place: TaskIds): string | undefined {
  const isBound = OPTIONAL_IDS.every((name) => ids.includes(name) && message[name] === place[name]);
  return isBound ? undefined : 'is over a message of another task';
}
