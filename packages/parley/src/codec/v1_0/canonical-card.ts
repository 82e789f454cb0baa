import type { JsonObject, JsonValue } from '../../model/json.js';
import { isObject } from '../../model/json.js';
import type { ValueForm } from '../../model/type-row.js';
import { TYPE_TABLE, type TypeName } from '../../model/type-table.generated.js';
import { toClosedForm } from './closed-form.js';

/**
 * Members that are signed if they are set, even to their default (`optional` in the protobuf definition). The schemas
 * do not tell them from other optional members.
 */
export const EXPLICIT_MEMBERS: ReadonlySet<string> = new Set([
  'AgentCard.documentationUrl',
  'AgentCard.iconUrl',
  'AgentCapabilities.streaming',
  'AgentCapabilities.pushNotifications',
  'AgentCapabilities.extendedAgentCard',
]);

/**
 * The content of a card that a signature covers (Spec §8.4.1): the members of this version, without `signatures`.
 * Required members are always covered, others unless they have their default. `canonicalJson` makes the payload from
 * it. Servers sign that payload, clients verify it.
 * @param document The card as JSON, in any accepted spelling; it is not changed.
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

/** The value of a required member that is absent: the default of its protobuf type. */
function defaultOf(form: ValueForm): JsonValue {
  if (form.is === 'object') return presentMembers(form.type, {});
  return form.is === 'list' ? [] : form.is === 'map' ? {} : '';
}

/** True if a value is the default, as if it were absent. An empty object differs from an absent one. */
function isDefault(form: ValueForm, value: JsonValue): boolean {
  if (form.is === 'list') return Array.isArray(value) && value.length === 0;
  if (form.is === 'map') return isObject(value) && Object.keys(value).length === 0;
  return value === '' || value === false;
}
