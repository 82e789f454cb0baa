import { FIXED64, LENGTH_DELIMITED, tagOf, VARINT } from './wire-reader.js';

/** The entries of maps. `Struct` is a map, too. */
export const KEY_TAG = tagOf(1, LENGTH_DELIMITED);
export const VALUE_TAG = tagOf(2, LENGTH_DELIMITED);

/** The fields of `google.protobuf.Timestamp`. */
export const SECONDS_TAG = tagOf(1, VARINT);
export const NANOS_TAG = tagOf(2, VARINT);

/** The field of `google.protobuf.Struct`, and that of `ListValue`. */
export const FIELDS_TAG = tagOf(1, LENGTH_DELIMITED);
export const VALUES_TAG = tagOf(1, LENGTH_DELIMITED);

/** The fields of `google.protobuf.Value`. */
export const NULL_TAG = tagOf(1, VARINT);
export const NUMBER_TAG = tagOf(2, FIXED64);
export const STRING_TAG = tagOf(3, LENGTH_DELIMITED);
export const BOOL_TAG = tagOf(4, VARINT);
export const STRUCT_TAG = tagOf(5, LENGTH_DELIMITED);
export const LIST_TAG = tagOf(6, LENGTH_DELIMITED);
