import type { JsonObject, TaskArtifactUpdateEvent } from 'parley-a2a';
import { MORE_FOLLOWS } from 'parley-a2a/kit';
import type { EventQueue } from 'parley-a2a/server';
import type { LogRecord } from 'parley-a2a/storage';

/** The text of one message of the graph. */
export interface AnswerSegment {
  /** Names the node of the text. */
  readonly step: string;
  readonly node: string;
  readonly text: string;
}

interface Artifact {
  readonly artifactId: string;
  segments: { readonly step: string; readonly node: string; text: string }[];
  /** The message that is written now. */
  writer: string | undefined;
  isPublished: boolean;
}

const BETWEEN = '\n\n';

/**
 * The answer of a turn: one artifact that grows. A message that another node writes at the same time has its own
 * artifact, so that their texts do not mix. The update that begins a message names its node in its metadata.
 */
export class AnswerArtifacts {
  readonly #events: EventQueue;
  readonly #artifactId: string;
  readonly #artifacts: Artifact[] = [];

  constructor(events: EventQueue, artifactId: string) {
    this.#events = events;
    this.#artifactId = artifactId;
  }

  /** Reads the records of earlier attempts of the turn. Text that is not kept is removed from its artifact. */
  async restore(records: readonly LogRecord[], isKept: (segment: AnswerSegment) => boolean): Promise<void> {
    for (const { event } of records) {
      if (event.artifactUpdate === undefined) continue;
      const known = this.#restoreArtifact(event.artifactUpdate.artifact.artifactId);
      if (known !== undefined) restoreUpdate(known, event.artifactUpdate);
    }
    await this.drop((segment) => !isKept(segment));
  }

  /** Adds text of a message. */
  async write(message: string, { step, node, text }: AnswerSegment): Promise<void> {
    if (text === '') return;
    const own = this.#artifacts.find(({ writer }) => writer === message);
    if (own !== undefined) {
      const segment = own.segments.at(-1);
      if (segment !== undefined) segment.text += text;
      return this.#publish(own, text);
    }
    const artifact = this.#free();
    artifact.writer = message;
    await this.#begin(artifact, { step, node, text });
  }

  /** Ends a message: the next one may follow it in the artifact. */
  end(message: string): void {
    for (const artifact of this.#artifacts) if (artifact.writer === message) artifact.writer = undefined;
  }

  /** Removes the text of an unfinished message. */
  dropMessage(message: string): Promise<void> {
    const segment = this.#artifacts.find(({ writer }) => writer === message)?.segments.at(-1);
    return this.drop((other) => other === segment);
  }

  /** Removes text, such as that of a node that runs again. */
  async drop(isDropped: (segment: AnswerSegment) => boolean): Promise<void> {
    for (const artifact of this.#artifacts) {
      const kept = artifact.segments.filter((segment) => !isDropped(segment));
      if (kept.length === artifact.segments.length) continue;
      artifact.segments = [];
      artifact.writer = undefined;
      artifact.isPublished = false;
      for (const segment of kept) await this.#begin(artifact, segment);
      if (kept.length === 0) await this.#publish(artifact, '');
    }
  }

  /** True if a node has written exactly this text. */
  hasText({ step, text }: Pick<AnswerSegment, 'step' | 'text'>): boolean {
    return this.#artifacts.some(({ segments }) =>
      segments.some((segment) => segment.step === step && segment.text === text),
    );
  }

  /** Adds a message to the texts of an artifact. */
  #begin(artifact: Artifact, { step, node, text }: AnswerSegment): Promise<void> {
    const isFirst = artifact.segments.every((segment) => segment.text === '');
    artifact.segments.push({ step, node, text });
    return this.#publish(artifact, isFirst ? text : BETWEEN + text, { node, step });
  }

  #publish(artifact: Artifact, text: string, metadata?: JsonObject): Promise<void> {
    const { artifactId, isPublished } = artifact;
    artifact.isPublished = true;
    return this.#events.publish({
      artifactUpdate: {
        artifact: { artifactId, ...(!isPublished && { name: 'response' }), parts: [{ text }] },
        append: isPublished,
        ...MORE_FOLLOWS,
        ...(metadata && { metadata }),
      },
    });
  }

  #free(): Artifact {
    return this.#artifacts.find(({ writer }) => writer === undefined) ?? this.#add(this.#nextId());
  }

  #add(artifactId: string): Artifact {
    const added: Artifact = { artifactId, segments: [], writer: undefined, isPublished: false };
    this.#artifacts.push(added);
    return added;
  }

  #nextId(): string {
    return this.#artifacts.length === 0 ? this.#artifactId : `${this.#artifactId}-${this.#artifacts.length + 1}`;
  }

  /** The artifact of an earlier attempt. `undefined` for artifacts that the answer does not have. */
  #restoreArtifact(artifactId: string): Artifact | undefined {
    const known = this.#artifacts.find((artifact) => artifact.artifactId === artifactId);
    if (known !== undefined) return known;
    if (artifactId !== this.#nextId()) return undefined;
    const added = this.#add(artifactId);
    added.isPublished = true;
    return added;
  }
}

function restoreUpdate(known: Artifact, { artifact, append, metadata = {} }: TaskArtifactUpdateEvent): void {
  if (append !== true) known.segments = [];
  const text = artifact.parts.map((part) => (part.text !== undefined ? part.text : '')).join('');
  const { step, node } = metadata;
  const last = known.segments.at(-1);
  if (typeof step === 'string' && typeof node === 'string') {
    const isFirst = last === undefined;
    known.segments.push({ step, node, text: isFirst ? text : text.slice(BETWEEN.length) });
  } else if (last !== undefined) last.text += text;
}
