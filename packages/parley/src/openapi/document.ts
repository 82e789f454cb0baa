/** A JSON Schema in the dialect of 2020-12, as in OpenAPI 3.1. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

/** A reference to another place of the document. */
export interface Reference {
  readonly $ref: string;
}

/** A parameter of an operation, outside its body. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: Schema;
}

/** A header of an answer. */
export interface Header {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

/** Bodies by media type. */
export interface Content {
  readonly [mediaType: string]: { readonly schema: Schema };
}

/** An answer of an operation, for one status. */
export interface DescribedAnswer {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Content;
}

/** The operation of one method and path. */
export interface DescribedOperation {
  /** Unique in the document. */
  readonly operationId: string;
  /** The groups that show the operation. */
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  /** By status. */
  readonly responses: Readonly<Record<string, DescribedAnswer>>;
  /** Alternatives, each with all of its schemes. Absent or empty: no credentials are needed. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

/** The operations of a path by lower-case method. */
export type PathItem = { readonly [Method in 'get' | 'head' | 'post' | 'patch' | 'delete']?: DescribedOperation };

/** Path items by path, relative to the address of the server. */
export type Paths = Readonly<Record<string, PathItem>>;

/** A group of operations. */
export interface Tag {
  readonly name: string;
  readonly description: string;
}

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers?: readonly { readonly url: string }[];
  readonly tags: readonly Tag[];
  readonly paths: Paths;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly securitySchemes?: Readonly<Record<string, Schema>>;
  };
}
