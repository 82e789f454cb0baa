import { isObject } from '../../../model/json.js';
import type { Schema } from '../../../openapi/document.js';
import { html, type Markup } from './markup.js';

const REFERENCE = '#/components/schemas/';
/** Further down there is nothing that has no name of its own. */
const MOST_LEVELS = 6;

/** A schema for people: what kind of value it is, and its members. */
export function schemaMarkup(schema: Schema, level = 0): Markup {
  const members = Object.entries((schema.properties ?? {}) as Readonly<Record<string, Schema>>);
  const required = new Set((schema.required ?? []) as readonly string[]);
  const note = typeof schema.description === 'string' ? html` <small>${schema.description}</small>` : '';
  const inner = [schema.contentSchema, schema.items].find(isInline);
  const nested = level < MOST_LEVELS ? alternatives(schema).filter(hasMembers) : [];
  return html`${typeMarkup(schema)}${note}${
    members.length === 0 || level >= MOST_LEVELS
      ? ''
      : html`<dl>${members.map(([name, member]) => html`<dt><code>${name}</code>${required.has(name) ? ' *' : ''}</dt><dd>${schemaMarkup(member, level + 1)}</dd>`)}</dl>`
  }${inner === undefined ? '' : html`<div class="inner">${schemaMarkup(inner, level + 1)}</div>`}${nested.map(
    (one) => html`<div class="inner">${schemaMarkup(one, level + 1)}</div>`,
  )}`;
}

/** The kind of a value in a few words, with links to what has a name. */
function typeMarkup(schema: Schema): Markup {
  const { $ref, type, enum: values, items, additionalProperties } = schema;
  if (typeof $ref === 'string') return referenceMarkup($ref.slice(REFERENCE.length));
  if ('const' in schema) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (Array.isArray(values)) return html`<code>${values.map((value) => JSON.stringify(value)).join(' | ')}</code>`;
  const others = alternatives(schema);
  if (type === undefined && others.length > 0) return joinMarkup(others.map(typeMarkup));
  if (type === 'array' && isObject(items)) return html`list of ${typeMarkup(items)}`;
  if (type === 'object' && isObject(additionalProperties)) return html`map of ${typeMarkup(additionalProperties)}`;
  const types = type === undefined ? ['anything'] : Array.isArray(type) ? (type as readonly string[]) : [String(type)];
  const { format, contentEncoding, contentMediaType, minimum, maximum, minLength, maxLength } = schema;
  const bounds = [
    format ?? contentEncoding ?? contentMediaType,
    minimum === undefined ? undefined : `${minimum} to ${maximum}`,
    minLength === undefined ? undefined : 'not empty',
    maxLength === undefined ? undefined : `at most ${maxLength} characters`,
  ].filter((bound) => bound !== undefined);
  return html`${types.join(' or ')}${bounds.length === 0 ? '' : ` (${bounds.join(', ')})`}`;
}

function joinMarkup(markups: readonly Markup[]): Markup {
  return html`${markups.map((one, at) => html`${at === 0 ? '' : ' or '}${one}`)}`;
}

function referenceMarkup(name: string): Markup {
  return html`<a href="#${schemaAnchor(name)}"><code>${name}</code></a>`;
}

/** The place of a named schema on the page. */
export function schemaAnchor(name: string): string {
  return `schema-${name.replace(/[^A-Za-z0-9]+/g, '-')}`;
}

function alternatives({ oneOf, anyOf }: Schema): readonly Schema[] {
  return ((oneOf ?? anyOf ?? []) as readonly Schema[]).filter((one) => Object.keys(one).length > 0);
}

function hasMembers(schema: Schema): boolean {
  return isInline(schema) && schema.properties !== undefined;
}

function isInline(value: unknown): value is Schema {
  return isObject(value) && (value.properties !== undefined || value.oneOf !== undefined || value.anyOf !== undefined);
}
