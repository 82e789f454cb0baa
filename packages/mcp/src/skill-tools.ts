import type { AgentCard, AgentSkill } from 'parley-a2a';
import { oneLine, shortenText } from './bounded-text.js';

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

/** Maximum length of a name that all known models accept. */
const NAME_LENGTH = 64;
const TITLE_LENGTH = 200;
const DESCRIPTION_LENGTH = 4_000;
const EXAMPLES = 5;
const EXAMPLE_LENGTH = 300;
/** Maximum number of skills of one card. The rest are left out. */
const SKILLS_OF_A_CARD = 200;

/**
 * Makes a tool of each skill. With several cards, the name of the agent precedes the id of the skill. Texts of cards
 * are untrusted, so they are truncated and free of control characters. Names do not depend on the order of the cards.
 */
export function skillToolsOf(cards: readonly AgentCard[]): readonly SkillTool[] {
  const wanted = cards.flatMap((card, agent): readonly WantedTool[] => {
    const prefix = cards.length === 1 ? '' : `${word(card.name)}_`;
    const place = card.supportedInterfaces[0]?.url ?? '';
    const title = (name: string) => oneLine(name, TITLE_LENGTH);
    if (card.skills.length === 0) {
      const tool = { title: title(card.name), description: agentText(card), agent, skillId: undefined };
      return [{ tool, name: word(card.name), source: place }];
    }
    return card.skills.slice(0, SKILLS_OF_A_CARD).map((skill) => ({
      tool: { title: title(skill.name), description: skillText(card, skill), agent, skillId: skill.id },
      name: (prefix + word(skill.id)).slice(0, NAME_LENGTH),
      source: `${place}#${skill.id}`,
    }));
  });
  const uses = new Map<string, number>();
  for (const { name } of wanted) uses.set(name, (uses.get(name) ?? 0) + 1);
  const taken = new Set([...uses].flatMap(([name, count]) => (count === 1 ? [name] : [])));
  return wanted.map(({ tool, name, source }) => ({
    ...tool,
    name: uses.get(name) === 1 ? name : freeName(name, hashOf(source), taken),
  }));
}

/** A tool, the name that it gets if no other tool wants it, and its source. */
interface WantedTool {
  readonly tool: Omit<SkillTool, 'name'>;
  readonly name: string;
  readonly source: string;
}

function agentText(card: AgentCard): string {
  return shortenText(
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
  return shortenText(lines.join('\n\n'), DESCRIPTION_LENGTH);
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

/**
 * A unique name for a tool whose name several tools want: with a hash of its source, and a number if that is taken,
 * too.
 */
function freeName(wanted: string, hash: string, taken: Set<string>): string {
  const suffixOf = (number: number) => (number === 1 ? `_${hash}` : `_${hash}_${number}`);
  const numberedName = (number: number) => wanted.slice(0, NAME_LENGTH - suffixOf(number).length) + suffixOf(number);
  let number = 1;
  while (taken.has(numberedName(number))) number += 1;
  taken.add(numberedName(number));
  return numberedName(number);
}

/** FNV-1a of 32 bits: short and synchronous. Equal hashes get numbers. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(36).padStart(7, '0');
}
