import Type from 'typebox';
import { PartSchema } from './part.js';
import { closed, FreeObject, NonEmpty, type Shape } from './schema.js';

export const ArtifactSchema = closed('Artifact', {
  artifactId: NonEmpty,
  name: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  parts: Type.Array(PartSchema, { minItems: 1 }),
  metadata: Type.Optional(FreeObject),
  extensions: Type.Optional(Type.Array(Type.String())),
});

/** An output of a task. `artifactId` is unique within the task (Spec §4.1.7). */
export type Artifact = Shape<typeof ArtifactSchema>;
