import type { ContentModes } from '../operations/content-types.js';
import type { AgentCardOptions } from './agent-card-options.js';

/**
 * The media types that an author declares: the defaults and those of all skills. Without a default, types are limited
 * only if every skill declares its own. `undefined` if nothing is limited.
 */
export function declaredModes(options: AgentCardOptions): ContentModes | undefined {
  const { defaultInputModes, defaultOutputModes, skills = [] } = options;
  const input = union(
    defaultInputModes,
    skills.map(({ inputModes }) => inputModes),
  );
  const output = union(
    defaultOutputModes,
    skills.map(({ outputModes }) => outputModes),
  );
  return input === undefined && output === undefined ? undefined : { input, output };
}

function union(
  byDefault: readonly string[] | undefined,
  ofSkills: readonly (readonly string[] | undefined)[],
): readonly string[] | undefined {
  const declared = ofSkills.filter((modes) => modes !== undefined);
  if (byDefault === undefined && (declared.length === 0 || declared.length < ofSkills.length)) return undefined;
  return [...new Set([...(byDefault ?? []), ...declared.flat()])];
}
