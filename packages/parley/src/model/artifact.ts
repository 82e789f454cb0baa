import Type from 'typebox';
import { PartSchema } from './part.js';
import { FreeObject, modelObject, NonEmpty } from './schema.js';

export type { Artifact } from './protocol-types.generated.js';

/** An output of a task. `artifactId` is unique within the task (Spec §4.1.7). */
export const ArtifactSchema = modelObject('Artifact', {
  /** Unique within the task. Chunks of one artifact have the same. */
  artifactId: NonEmpty,
  name: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  parts: Type.Array(PartSchema, { minItems: 1 }),
  metadata: Type.Optional(FreeObject),
  /** URIs of the extensions that the artifact uses. */
  extensions: Type.Optional(Type.Array(Type.String())),
});
