import type { TypeName } from './type-table.generated.js';

/** One type of the model, for code that walks a value along its type. */
export interface TypeRow {
  readonly members: readonly MemberRow[];
  /** Exactly one of these members must be present. */
  readonly exactlyOne?: readonly string[];
}

/** One member of a type. */
export interface MemberRow {
  readonly name: string;
  readonly required: boolean;
  readonly form: ValueForm;
}

/** The form of the value of a member. */
export type ValueForm =
  | { readonly is: 'string'; readonly nonEmpty: boolean }
  | { readonly is: 'integer'; readonly minimum: number; readonly maximum: number }
  | { readonly is: 'boolean' }
  | { readonly is: 'base64' }
  | { readonly is: 'timestamp' }
  | {
      readonly is: 'enum';
      readonly names: readonly string[];
      /** True if the position of a name is its protobuf number. */
      readonly numbered: boolean;
      /** True if the first name, the unspecified value, is allowed. */
      readonly zero: boolean;
    }
  | { readonly is: 'object'; readonly type: TypeName }
  | { readonly is: 'list'; readonly of: ValueForm; readonly nonEmpty: boolean }
  | { readonly is: 'map'; readonly of: ValueForm }
  /** An object with free members. */
  | { readonly is: 'free' }
  /** Any JSON value, `null` included. */
  | { readonly is: 'json' };
