import { AgentCardError } from '../errors/agent-card-error.js';
import type { AgentCard, AgentInterface } from '../model/agent-card.js';
import { isObject } from '../model/json.js';
import { hasOldAddress, isOldCard, readVersion } from './card-form.js';
import { readAgentCard } from './v0_3/agent-card.js';
import { readSecurityScheme } from './v0_3/security-scheme.js';
import { type LenientRules, toLenientForm } from './v1_0/lenient-form.js';

type Members = Readonly<Record<string, unknown>>;

/**
 * Reads a card of any version as others publish it (Spec §14.2.1). Cards are read tolerantly here and nowhere else:
 * spellings, null, empty texts, unknown words, unreadable members. The tolerance has three limits. It invents no
 * address, required security that cannot be read stays required, and signatures are checked before, over the card as
 * received. A card that lists interfaces in the form of 1.0 is of that version, whatever else it holds.
 * @throws AgentCardError `invalid` if the value is no card.
 */
export function readReceivedCard(value: unknown): AgentCard {
  const document = cardIn(value);
  const card = toCard(isOldCard(document) ? readAgentCard(document) : document);
  if (card.supportedInterfaces.length > 0 || isOldCard(document) || !hasOldAddress(document)) return card;
  return { ...card, supportedInterfaces: toCard(readAgentCard(document)).supportedInterfaces };
}

function toCard(form: object): AgentCard {
  const card = toLenientForm('AgentCard', form, RULES) as unknown as AgentCard;
  const different = new Map<string, AgentInterface>();
  for (const one of card.supportedInterfaces) {
    const { url, protocolBinding, protocolVersion, tenant } = one;
    const key = JSON.stringify([url, protocolBinding, protocolVersion, tenant]);
    if (!different.has(key)) different.set(key, one);
  }
  return { ...card, supportedInterfaces: [...different.values()] };
}

/** Members of cards. A document with a name and two of them is a card, although it lists no interfaces. */
const CARD_MEMBERS = [
  'url',
  'protocolVersion',
  'preferredTransport',
  'additionalInterfaces',
  'capabilities',
  'skills',
  'defaultInputModes',
  'defaultOutputModes',
  'securitySchemes',
  'supportsAuthenticatedExtendedCard',
];
const SHOWN_MEMBERS = 5;

/** @throws AgentCardError that says what the value is instead of a card. */
function cardIn(value: unknown): Members {
  if (!isObject(value)) throw noCard(`it is ${kindOf(value)}`);
  const { name } = value;
  const interfaces = value.supportedInterfaces ?? value.supported_interfaces;
  if (isThere(name) && typeof name !== 'string') throw noCard('card.name is not a text');
  if (isThere(interfaces) && !Array.isArray(interfaces)) throw noCard('card.supportedInterfaces is not a list');
  if (isCard(value)) return value;
  const members = Object.keys(value);
  if (members.length === 0) throw noCard('it has no members');
  const wrapped = members.find((member) => isCard(value[member]));
  const inside =
    wrapped === undefined ? '' : `, and its member ${shownName(wrapped)} is one: publish that, or pass it on`;
  const shown = [...members.slice(0, SHOWN_MEMBERS), ...(members.length > SHOWN_MEMBERS ? ['…'] : [])];
  throw noCard(`its members are ${shown.map(shownName).join(', ')}${inside}`);
}

function shownName(member: string): string {
  return member.slice(0, 40);
}

function isCard(value: unknown): boolean {
  if (!isObject(value)) return false;
  if (Array.isArray(value.supportedInterfaces ?? value.supported_interfaces)) return true;
  const members = CARD_MEMBERS.filter((member) => isThere(value[member] ?? value[snakeCase(member)]));
  return typeof value.name === 'string' && value.name !== '' && members.length > 1;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'string' ? 'a text' : String(value);
}

function noCard(fault: string): AgentCardError {
  return new AgentCardError('invalid', fault);
}

/** `null` counts as absent (Spec §5.5). */
function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

const RULES: LenientRules = {
  before: {
    AgentCard: ({ security, securitySchemes, security_schemes: otherSchemes, ...card }) => ({
      ...withRequirements(card, security),
      securitySchemes: withObjects(securitySchemes ?? otherSchemes),
    }),
    AgentSkill: ({ security, ...skill }) => {
      const names = [skill.id, skill.name].filter((name) => isThere(name) && name !== '');
      return withRequirements({ ...skill, id: names[0], name: names.at(-1) }, security);
    },
    AgentInterface: readInterface,
    SecurityScheme: readScheme,
  },
  needsAll: new Set(['AgentInterface', 'AgentSkill', 'ApiKeySecurityScheme', 'HttpAuthSecurityScheme']),
};

/** A scheme that is no object stays as a scheme that no credential serves. */
function withObjects(schemes: unknown): unknown {
  if (!isObject(schemes)) return undefined;
  return Object.fromEntries(Object.entries(schemes).map(([name, scheme]) => [name, isObject(scheme) ? scheme : {}]));
}

const KINDS = ['apiKey', 'httpAuth', 'oauth2', 'openIdConnect', 'mtls'].flatMap((kind) => [
  `${kind}SecurityScheme`,
  `${snakeCase(kind)}_security_scheme`,
]);

/** A scheme of several kinds stays as a scheme that no credential serves, because its meaning is not clear. */
function readScheme(scheme: Members): Members {
  const kinds = KINDS.filter((kind) => isThere(scheme[kind]));
  if (kinds.length > 1) return {};
  return kinds.length === 0 && 'type' in scheme ? readSecurityScheme(scheme) : scheme;
}

/** The name of a requirement that no credential satisfies. It is shown in errors. */
const UNREADABLE = 'something that cannot be read';

/** Adds the requirements. Those in the form of 1.0 count, else those under the older name. */
function withRequirements(
  { securityRequirements, security_requirements: spelled, ...owner }: Members,
  security: unknown,
): Members {
  const given = securityRequirements ?? spelled ?? security;
  if (!isThere(given)) return owner;
  return {
    ...owner,
    securityRequirements: (Array.isArray(given) ? (given as unknown[]) : [given]).map(readRequirement),
  };
}

/** Reads a requirement in the form of any version, or its names alone. Anything else is a requirement, too. */
function readRequirement(value: unknown): Members {
  const named = isObject(value) && 'schemes' in value ? (value.schemes ?? {}) : value;
  if (isObject(named)) return requirement(Object.entries(named));
  const names: readonly unknown[] = Array.isArray(named) ? named : [named];
  const areTexts = names.length > 0 && names.every((name) => typeof name === 'string');
  return requirement(areTexts ? names.map((name) => [String(name), []]) : [[UNREADABLE, []]]);
}

function requirement(scopes: readonly (readonly [string, unknown])[]): Members {
  const lists = scopes.map(([name, list]) => [name, Array.isArray(list) ? { list } : isObject(list) ? list : {}]);
  return { schemes: Object.fromEntries(lists) };
}

/** Spellings of bindings, without case and punctuation. Any other text stays as it is. */
const BINDINGS: ReadonlyMap<string, string> = new Map([
  ['JSONRPC', 'JSONRPC'],
  ['JSONRPC20', 'JSONRPC'],
  ['HTTPJSON', 'HTTP+JSON'],
  ['HTTPJSONREST', 'HTTP+JSON'],
  ['REST', 'HTTP+JSON'],
  ['GRPC', 'GRPC'],
]);
const PUNCTUATION = /[\s+/_.-]/g;
/** The maximum length of a spelling in `BINDINGS`. Longer texts are not normalized. */
const LONGEST_SPELLING = 32;

/**
 * Urls that are not kept: more than 2 kB, a scheme that holds content or names a file, or a character that URL parsers
 * drop.
 */
const NO_ADDRESS = /^.{2049}|^(data|file|blob):|[\0- ]/is;

/** An interface without a version is one of 1.0. A relative url stays: it names no origin, so that none is called. */
function readInterface(value: Members): Members {
  const {
    url,
    protocolVersion,
    protocol_version: version,
    protocolBinding,
    protocol_binding: spelled,
    ...others
  } = value;
  // The member of 0.3, and one that some authors write.
  const { transport, type, ...rest } = others;
  const given = [protocolBinding, spelled, transport, type].find((one) => typeof one === 'string' && one !== '');
  const binding = String(given ?? '').trim();
  const spelling = binding.length > LONGEST_SPELLING ? '' : binding.toUpperCase().replace(PUNCTUATION, '');
  return {
    ...rest,
    ...(typeof url === 'string' && !NO_ADDRESS.test(url) && { url }),
    protocolBinding: BINDINGS.get(spelling) ?? binding,
    protocolVersion: readVersion(protocolVersion ?? version) ?? '1.0',
  };
}
