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

/** The parameters of a method, and whether they may be left out. */
export interface ParamsSchema {
  readonly schema: Schema;
  readonly optional: boolean;
}

/** What a request may have too much of, and what its agent has no use for. */
export interface SchemaLimits {
  /** Most characters of an id. */
  readonly idLength: number;
  /** Most parts of a message. */
  readonly parts: number;
  /** Whether the agent sends push notifications; configurations are refused otherwise. */
  readonly pushNotifications: boolean;
}

/** What a version reads and writes as JSON Schema: exactly the language that its codec accepts, not only what it would like. */
export interface WireSchemas {
  /** The parameters of a JSON-RPC method. */
  params(operation: OperationName, components: Components, limits: SchemaLimits): ParamsSchema;
  /** The body of a route, without what its path says. */
  body(route: WireRoute, components: Components, limits: SchemaLimits): Schema;
  /** What a route without a body reads from the query, without what its path says. */
  query(route: WireRoute, limits: SchemaLimits): readonly QueryMember[];
  /** The answer of a unary operation, or one event of a stream. */
  response(operation: OperationName, components: Components): Schema;
  /** The agent card. */
  card(components: Components): Schema;
}
