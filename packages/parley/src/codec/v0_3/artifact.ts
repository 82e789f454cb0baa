import type { Artifact } from '../../model/artifact.js';
import type { Dialect } from './dialect.js';
import { listReader, type Members, membersReader } from './members.js';
import { partReader, writePart } from './part.js';

/** The same in both dialects but for its parts. */
export function writeArtifact(dialect: Dialect, artifact: Artifact): object {
  const { artifactId, name, description, metadata, extensions } = artifact;
  const parts = artifact.parts.map((part) => writePart(dialect, part));
  return { artifactId, name, description, parts, metadata, extensions };
}

/** Reads an artifact. */
export function artifactReader(dialect: Dialect): (artifact: Members) => object {
  return membersReader([
    ['artifactId'],
    ['name'],
    ['description'],
    ['parts', undefined, listReader(partReader(dialect))],
    ['metadata'],
    ['extensions'],
  ]);
}
