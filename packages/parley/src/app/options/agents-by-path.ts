import type { Authenticator } from '../../auth/authenticator.js';
import type { ProtocolVersionName } from '../../codec/protocol-versions.js';
import { checkOptions, isOption } from '../../options/check-options.js';
import { optionObject, pattern, text } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import { shadowedMount } from '../mount-paths.js';
import { type AgentOptions, agentProblem, agentSchemas, versionsSchema } from './agent-options.js';

/** The agent of another path once more: with the same tasks and card, but in versions of its own. */
export interface SameAgent {
  /** The path where the agent has its options. */
  readonly sameAs: string;
  /** The protocol versions that are offered here; default: those of the agent. */
  readonly versions?: readonly ProtocolVersionName[];
}

/** Agents by path. The same options under two paths are one agent with one task space. */
export type AgentsByPath = Readonly<Record<string, AgentOptions | SameAgent>>;

/** The agents of a host, and the authenticator of those without one. */
export interface AgentsOfHost {
  readonly agents: AgentsByPath;
  readonly authenticator?: Authenticator | undefined;
}

/** The agent under one path. */
interface AgentAtPath {
  readonly options: AgentOptions;
  /** The path where the options stand. */
  readonly home: string;
  readonly versions: readonly ProtocolVersionName[] | undefined;
}

/** The agent under a path. Takes agents without problems. */
export function agentAt(agents: AgentsByPath, path: string): AgentAtPath {
  const entry = agents[path] as AgentOptions | SameAgent;
  if (!('sameAs' in entry)) return { options: entry, home: path, versions: entry.versions };
  const options = agents[entry.sameAs] as AgentOptions;
  return { options, home: entry.sameAs, versions: entry.versions ?? options.versions };
}

/** The schema of a path under which an agent is served. */
export const pathSchema = pattern(
  /^\/$|^(?:\/[A-Za-z0-9._~-]+)+$/,
  'must be "/" or a path such as "/agents/echo", without a slash at the end',
);

const agentSchema = optionObject(agentSchemas);
const sameAgentSchema = optionObject({ sameAs: text, versions: Type.Optional(versionsSchema) });

/**
 * The problems of agents as a whole.
 * @throws OptionsError naming every option of an agent that is at fault.
 */
export function agentProblems(subject: string, { agents, authenticator }: AgentsOfHost): string[] {
  const problems: string[] = [];
  const spaces = new Map<string, AgentOptions>();
  for (const [place, agent] of Object.entries(agents)) {
    if (!isOption(pathSchema, place)) {
      problems.push(`agents: the path "${place}" must be "/" or like "/agents/echo"`);
    }
    const shadowed = shadowedMount(place, Object.keys(agents));
    if (shadowed !== undefined) {
      problems.push(`the agent at ${place} takes paths of the agent at ${shadowed}. Give it another path`);
    }
    const same = typeof agent === 'object' && agent !== null && 'sameAs' in agent;
    const schema = same ? sameAgentSchema : agentSchema;
    checkOptions({ subject: `${subject}: the agent at ${place}`, schema, options: agent });
    if (same) {
      const meant = agents[agent.sameAs];
      if (meant === undefined || 'sameAs' in meant)
        problems.push(`the agent at ${place} is sameAs "${agent.sameAs}", where no agent has its options`);
      continue;
    }
    const problem = agentProblem(agent, authenticator);
    if (problem !== undefined) problems.push(`the agent at ${place} ${problem}`);
    const space = agent.id ?? place;
    if ((spaces.get(space) ?? agent) !== agent)
      problems.push(`the agent at ${place} has the id "${space}" of another one`);
    spaces.set(space, agent);
  }
  if (Object.keys(agents).length === 0) problems.push('agents: needs at least one agent');
  return problems;
}
