import type { MemberRow } from '../../model/type-row.js';
import { TYPE_TABLE, type TypeName } from '../../model/type-table.generated.js';
import { modelSchema } from '../../openapi/model-schema.js';
import { OPERATIONS } from '../../operations/operations.js';
import type { WireRoute } from '../wire-codec.js';
import type { QueryMember, SchemaLimits, WireSchemas } from '../wire-schemas.js';
import { acceptedObject, acceptedType, isId } from './request-schemas.js';
import { nullable, scalarSchema } from './value-schemas.js';

/** The schemas of version 1.0. */
export const v1_0Schemas: WireSchemas = {
  params(operation, components, limits) {
    const type: TypeName = OPERATIONS[operation].request;
    const schema = acceptedType(type, { components, limits });
    return { schema: { ...schema }, optional: !TYPE_TABLE[type].members.some(({ required }) => required) };
  },
  body(route, components, limits) {
    const inPath = variablesOf(route);
    const type: TypeName = OPERATIONS[route.operation].request;
    const options = { components, limits };
    const schema = inPath.length === 0 ? { ...acceptedType(type, options) } : acceptedObject(type, options, inPath);
    return route.body === 'optional' ? nullable(schema) : schema;
  },
  query(route, limits) {
    const inPath = variablesOf(route);
    return TYPE_TABLE[OPERATIONS[route.operation].request].members
      .filter(({ name }) => !inPath.includes(name))
      .flatMap((member) => queryMember(member, limits));
  },
  response(operation, components) {
    const { response } = OPERATIONS[operation];
    return response === undefined
      ? { type: 'object', additionalProperties: false }
      : { ...modelSchema(response, components) };
  },
  card: (components) => ({ ...modelSchema('AgentCard', components) }),
};

function queryMember({ name, required, form }: MemberRow, { ofIds }: SchemaLimits): readonly QueryMember[] {
  // A query has no form for nested values (Spec §11.5).
  if (form.is === 'object' || form.is === 'list' || form.is === 'map' || form.is === 'free') return [];
  const schema = scalarSchema(form, required, 'query');
  return [{ name, required, schema: isId(name) ? { ...schema, ...ofIds } : schema }];
}

/** The members of the request that the path holds. */
function variablesOf({ path }: WireRoute): readonly string[] {
  return path.flatMap((segment) => /^\{(\w+)\}/.exec(segment)?.[1] ?? []);
}
