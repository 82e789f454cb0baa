import type { Artifact, TaskArtifactUpdateEvent } from 'parley-a2a';
import { artifactsDigest, chainOf, extendChain, type PartChain } from './canonical-content.js';

/** An artifact as it is after an update. */
export interface SignedArtifact {
  /** Without parts. Metadata of all updates are merged, as the engine and clients merge them (Spec §4.2.2). */
  readonly about: Omit<Artifact, 'parts'>;
  readonly chain: PartChain;
}

/** The artifacts of a task as they grow, for a signer or a reader of the stream. */
export class SignedArtifacts {
  readonly #byId = new Map<string, SignedArtifact>();

  /** Starts from the artifacts of a task. */
  static async of(artifacts: readonly Artifact[] = []): Promise<SignedArtifacts> {
    const made = new SignedArtifacts();
    for (const artifact of artifacts) await made.apply({ artifact });
    return made;
  }

  /** Applies an update, and returns the artifact after it. */
  async apply({ artifact, append }: Pick<TaskArtifactUpdateEvent, 'artifact' | 'append'>): Promise<SignedArtifact> {
    const { parts, ...about } = artifact;
    const known = append === true ? this.#byId.get(artifact.artifactId) : undefined;
    const next =
      known === undefined
        ? { about, chain: await chainOf(parts) }
        : { about: merge(known.about, about), chain: await extendChain(known.chain, parts) };
    this.#byId.set(artifact.artifactId, next);
    return next;
  }

  get(artifactId: string): SignedArtifact | undefined {
    return this.#byId.get(artifactId);
  }

  /** Removes all artifacts, because a snapshot replaces the task. */
  clear(): void {
    this.#byId.clear();
  }

  /** The hash of all artifacts. */
  digest(): Promise<string> {
    return artifactsDigest([...this.#byId].map(([id, { chain }]) => [id, chain] as const));
  }
}

function merge(known: SignedArtifact['about'], update: SignedArtifact['about']): SignedArtifact['about'] {
  const metadata = { ...known.metadata, ...update.metadata };
  return { ...known, ...update, ...(Object.keys(metadata).length > 0 && { metadata }) };
}
