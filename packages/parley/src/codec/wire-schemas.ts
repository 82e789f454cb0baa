import type { Components } from '../openapi/components.js';
import type { Schema } from '../openapi/document.js';
import type { OperationName } from '../operations/operations.js';
import type { WireRoute } from './wire-codec.js';

/** One value that a route reads from the query. */
export interface QueryMember {
  readonly name: string;
  readonly required: boolean;
  readonly schema: Schema;
}

/** The parameters of a method. `optional`: a call may omit them. */
interface ParamsSchema {
  readonly schema: Schema;
  readonly optional: boolean;
}

/** The limits of an agent. */
export interface SchemaLimits {
  /** The keywords for every id. */
  readonly ofIds: { readonly maxLength: number };
  /** Maximum number of parts of a message. */
  readonly parts: number;
  /** True if the agent sends push notifications. Otherwise it refuses their configurations. */
  readonly pushNotifications: boolean;
}

/**
 * The JSON Schema of a version's messages: exactly the values that its codec accepts, and the values that it writes.
 */
export interface WireSchemas {
  /** The parameters of a JSON-RPC method. */
  params(operation: OperationName, components: Components, limits: SchemaLimits): ParamsSchema;
  /** The body of a route, without the members that the path has. */
  body(route: WireRoute, components: Components, limits: SchemaLimits): Schema;
  /** The query of a route without a body, without the members that the path has. */
  query(route: WireRoute, limits: SchemaLimits): readonly QueryMember[];
  /** The answer of a unary operation, or one event of a stream. */
  response(operation: OperationName, components: Components): Schema;
  /** The agent card. */
  card(components: Components): Schema;
}
