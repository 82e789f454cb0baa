import type { AgentCard, AgentSkill } from '../model/agent-card.js';
import { oneLine, shortened } from './bounded-text.js';

/** A skill of an agent as a tool of an MCP server. */
export interface SkillTool {
  /** Unique in the server: at most 64 characters of `A-Z a-z 0-9 _ -`. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The position of the agent in the list of cards. */
  readonly agent: number;
  /** Absent if the card has no skills: the tool then is the whole agent. */
  readonly skillId: string | undefined;
}

/** The longest name that all known models take. */
const NAME_LENGTH = 64;
const TITLE_LENGTH = 200;
const DESCRIPTION_LENGTH = 4_000;
const EXAMPLES = 5;
const EXAMPLE_LENGTH = 300;
/** Skills of one card beyond this number are left out. */
const SKILLS_OF_A_CARD = 200;

/**
 * Makes a tool of each skill. With several cards, the name of the agent goes before the id of the skill. Texts of cards
 * come from outside, so they are cut and free of control characters.
 */
export function skillToolsOf(cards: readonly AgentCard[]): readonly SkillTool[] {
  const taken = new Set<string>();
  return cards.flatMap((card, agent): readonly SkillTool[] => {
    const prefix = cards.length === 1 ? '' : `${word(card.name)}_`;
    if (card.skills.length === 0) {
      const name = freeName(cards.length === 1 ? word(card.name) : prefix.slice(0, -1), taken);
      return [
        { name, title: oneLine(card.name, TITLE_LENGTH), description: agentText(card), agent, skillId: undefined },
      ];
    }
    return card.skills.slice(0, SKILLS_OF_A_CARD).map((skill) => ({
      name: freeName(prefix + word(skill.id), taken),
      title: oneLine(skill.name, TITLE_LENGTH),
      description: skillText(card, skill),
      agent,
      skillId: skill.id,
    }));
  });
}

function agentText(card: AgentCard): string {
  return shortened(
    `${card.description}\n\nA tool of the agent ${oneLine(card.name, TITLE_LENGTH)}.`,
    DESCRIPTION_LENGTH,
  );
}

function skillText(card: AgentCard, skill: AgentSkill): string {
  const examples = (skill.examples ?? []).slice(0, EXAMPLES).map((example) => `- ${oneLine(example, EXAMPLE_LENGTH)}`);
  const inputs = skill.inputModes ?? card.defaultInputModes;
  const lines = [
    skill.description,
    ...(examples.length > 0 ? [`Examples:\n${examples.join('\n')}`] : []),
    ...(inputs.length > 0 ? [`Takes: ${oneLine(inputs.join(', '), EXAMPLE_LENGTH)}`] : []),
    `A skill of the agent ${oneLine(card.name, TITLE_LENGTH)}.`,
  ];
  return shortened(lines.join('\n\n'), DESCRIPTION_LENGTH);
}

function word(text: string): string {
  const pieces = text.slice(0, TITLE_LENGTH).split(/[^A-Za-z0-9-]/);
  return (
    pieces
      .filter((piece) => piece !== '')
      .join('_')
      .slice(0, NAME_LENGTH) || 'agent'
  );
}

/** Cuts a name and, if it is taken, adds the first free number. */
function freeName(wanted: string, taken: Set<string>): string {
  let name = wanted.slice(0, NAME_LENGTH);
  for (let number = 2; taken.has(name); number++) {
    const ending = `_${number}`;
    name = wanted.slice(0, NAME_LENGTH - ending.length) + ending;
  }
  taken.add(name);
  return name;
}
