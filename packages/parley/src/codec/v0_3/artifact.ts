import type { Artifact } from '../../model/artifact.js';
import type { Dialect } from './dialect.js';
import { convertedList, type Members, member, present } from './members.js';
import { readPart, writePart } from './part.js';

/** The same in both dialects but for its parts. */
export function writeArtifact(dialect: Dialect, { parts, ...artifact }: Artifact): object {
  return { ...artifact, parts: parts.map((part) => writePart(dialect, part)) };
}

/** See `writeArtifact`. */
export function readArtifact(dialect: Dialect, artifact: Members): object {
  return present({
    artifactId: member(artifact, 'artifactId'),
    name: member(artifact, 'name'),
    description: member(artifact, 'description'),
    parts: convertedList(member(artifact, 'parts'), (part) => readPart(dialect, part)),
    metadata: member(artifact, 'metadata'),
    extensions: member(artifact, 'extensions'),
  });
}
