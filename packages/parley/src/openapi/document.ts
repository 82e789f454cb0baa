/** A JSON Schema in the dialect of 2020-12, as OpenAPI 3.1 has it. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

/** A member of a document that is written down elsewhere in it. */
export interface Reference {
  readonly $ref: string;
}

/** A value that an operation reads beside its body. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: Schema;
}

/** A value that stands in the head of an answer. */
export interface Header {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

/** Bodies by media type. */
export interface Content {
  readonly [mediaType: string]: { readonly schema: Schema };
}

/** What an operation can be answered with under one status. */
export interface DescribedAnswer {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Content;
}

/** What one method of one path does. */
export interface DescribedOperation {
  /** Unique in the document. */
  readonly operationId: string;
  /** The group under which it is shown. */
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  /** By status. */
  readonly responses: Readonly<Record<string, DescribedAnswer>>;
  /** Alternatives, each with all of its schemes; absent or empty: nobody has to prove who they are. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

/** The operations of a path by lower-case method. */
export type PathItem = { readonly [Method in 'get' | 'post' | 'delete']?: DescribedOperation };

/** Path items by path below the address of the server. */
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
