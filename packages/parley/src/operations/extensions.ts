import { ExtensionSupportRequiredError } from '../errors/spec-errors.js';
import type { AgentExtension } from '../model/agent-card.js';
import { answersCard, type OperationName } from './operations.js';

const NONE: readonly string[] = Object.freeze([]);

/** The URIs of a comma-separated list, without blanks and duplicates, in the order of the list (Spec §3.2.6). */
export function parseExtensions(list: string | undefined): readonly string[] {
  if (list === undefined || list === '') return NONE;
  const uris = new Set<string>();
  for (const item of list.split(',')) {
    const uri = item.trim();
    if (uri !== '') uris.add(uri);
  }
  return [...uris];
}

/** The extensions that a call asks for and the card offers. Unknown ones are ignored (Spec §4.6.3). */
export function activeExtensions(asked: readonly string[], offered: readonly AgentExtension[]): readonly string[] {
  if (asked.length === 0 || offered.length === 0) return NONE;
  return asked.filter((uri) => offered.some((extension) => extension.uri === uri));
}

/**
 * Refuses a call that does not declare an extension which the card requires (Spec §3.3.4). A call that reads a card is
 * exempt: the card is where a client learns of required extensions.
 * @throws ExtensionSupportRequiredError for the first one missing.
 */
export function requireExtensions(
  operation: OperationName,
  asked: readonly string[],
  offered: readonly AgentExtension[],
): void {
  if (offered.length === 0 || answersCard(operation)) return;
  for (const { uri, required } of offered) {
    if (required === true && uri !== undefined && !asked.includes(uri)) throw new ExtensionSupportRequiredError(uri);
  }
}
