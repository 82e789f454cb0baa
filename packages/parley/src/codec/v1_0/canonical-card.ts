import type { JsonObject, JsonValue } from '../../model/json.js';
import { isObject } from '../../model/json.js';
import type { ValueForm } from '../../model/type-row.js';
import { TYPE_TABLE, type TypeName } from '../../model/type-table.generated.js';
import { toClosedForm } from './lenient.js';

/**
 * Members that are there if they were set, even to what they would be otherwise (`optional` in the definition of the protocol). The
 * schemas do not tell them from the others that may be absent.
 */
export const EXPLICIT_MEMBERS: ReadonlySet<string> = new Set([
  'AgentCard.documentationUrl',
  'AgentCard.iconUrl',
  'AgentCapabilities.streaming',
  'AgentCapabilities.pushNotifications',
  'AgentCapabilities.extendedAgentCard',
]);

/**
 * What a signature of a card covers, as data (spec §8.4.1): the members that this version knows, without `signatures`; required ones
 * always, others unless they say no more than their absence. `canonicalJson` makes the payload of it. Servers sign it, clients verify it.
 * @param document the card as JSON, in any spelling that is accepted; it is left alone.
 */
export function canonicalCard(document: object): JsonObject {
  const { signatures: _, ...card } = presentMembers('AgentCard', toClosedForm('AgentCard', document, 'json'));
  return card;
}

function presentMembers(type: TypeName, value: unknown): JsonObject {
  const held = isObject(value) ? value : {};
  const present: [string, JsonValue][] = [];
  for (const { name, required, form } of TYPE_TABLE[type].members) {
    const set = held[name];
    if (set === undefined && !required) continue;
    const inner = set === undefined ? defaultOf(form) : presentValue(form, set);
    if (required || EXPLICIT_MEMBERS.has(`${type}.${name}`) || !isDefault(form, inner)) present.push([name, inner]);
  }
  return Object.fromEntries(present);
}

function presentValue(form: ValueForm, value: unknown): JsonValue {
  if (form.is === 'object' && isObject(value)) return presentMembers(form.type, value);
  if (form.is === 'list' && Array.isArray(value)) return value.map((item) => presentValue(form.of, item));
  if (form.is === 'map' && isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, presentValue(form.of, item)]));
  return value as JsonValue;
}

/** What a required member holds that is not there: the default of its protobuf type. */
function defaultOf(form: ValueForm): JsonValue {
  if (form.is === 'object') return presentMembers(form.type, {});
  return form.is === 'list' ? [] : form.is === 'map' ? {} : '';
}

/** Whether a value says no more than its absence; an object that is there says something even when it is empty. */
function isDefault(form: ValueForm, value: JsonValue): boolean {
  if (form.is === 'list') return Array.isArray(value) && value.length === 0;
  if (form.is === 'map') return isObject(value) && Object.keys(value).length === 0;
  return value === '' || value === false;
}
