import type { A2AError } from '../../errors/a2a-error.js';
import { InvalidParamsError } from '../../errors/standard-errors.js';
import { isObject } from '../../model/json.js';
import type { OperationName, OperationTypes, UnaryOperationName } from '../../operations/operations.js';
import { methodsOf, routesOf } from '../operation-names.js';
import { decodeRequest } from '../v1_0/decode-type.js';
import type { ErrorWords, WireCodec, WireForm } from '../wire-codec.js';
import { writeAgentCard } from './agent-card.js';
import { type Dialect, KINDS, PROTO_JSON } from './dialect.js';
import { type OldOperation, type OldOperations, operationOf, operations0_3 } from './operations.js';
import { oldViolations } from './request-violations.js';
import { writeStreamResponse } from './stream-response.js';
import { writeTask } from './task.js';

/** The differences between the codecs of the versions before 1.0. */
interface OldVersion {
  /** With its patch number, as cards show it. */
  readonly protocolVersion: string;
  /** `Major.Minor`. */
  readonly version: string;
  readonly dialect: Dialect;
  readonly operations: OldOperations;
}

const VERSION_0_3 = { protocolVersion: '0.3.0', version: '0.3' } as const;

/** Version 0.3 over JSON-RPC. */
export const v0_3JsonRpc = oldCodec({ ...VERSION_0_3, dialect: KINDS, operations: operations0_3(KINDS, '0.3.0') });

/** Version 0.3 over HTTP+JSON. */
export const v0_3HttpJson = oldCodec({
  ...VERSION_0_3,
  dialect: PROTO_JSON,
  operations: operations0_3(PROTO_JSON, '0.3.0'),
});

/** The codec of a version before 1.0 in one of its dialects: the model of 1.0, converted at the edge. */
export function oldCodec({ protocolVersion, version, dialect, operations }: OldVersion): WireCodec {
  return {
    version,
    methods: dialect.kinds ? methodsOf(operations) : new Map(),
    routes: dialect.kinds ? [] : routesOf(operations),
    decode,
    encode: (operation, response) => JSON.stringify(encode(operation, response)),
    encodeEvent: (item) => JSON.stringify(writeStreamResponse(dialect, item)),
    notification: { mediaType: 'application/json', encodeTask: (task) => JSON.stringify(writeTask(dialect, task)) },
    encodeCard: (card) => JSON.stringify(writeAgentCard(protocolVersion, card)),
    framesErrors: true,
    wordsOf,
  };

  function decode<Name extends OperationName>(
    operation: Name,
    value: unknown,
    form?: WireForm,
  ): OperationTypes[Name]['request'] {
    const row = operationOf(operations, operation);
    const violations = row.violationsOf?.(value) ?? [];
    if (violations.length > 0) throw new InvalidParamsError(violations);
    try {
      return decodeRequest(operation, isObject(value) ? row.decode(value) : value, form);
    } catch (error) {
      throw error instanceof InvalidParamsError ? oldViolations(error, dialect, row) : error;
    }
  }

  function encode<Name extends UnaryOperationName>(operation: Name, response: OperationTypes[Name]['response']) {
    const row = operationOf(operations, operation) as OldOperation<UnaryOperationName>;
    return row.encode(response as never);
  }
}

/** One error has another name in these versions. */
function wordsOf({ code, message }: A2AError): ErrorWords {
  if (code !== 'EXTENDED_AGENT_CARD_NOT_CONFIGURED') return { reason: code, message };
  return {
    reason: 'AUTHENTICATED_EXTENDED_CARD_NOT_CONFIGURED',
    message: 'Authenticated Extended Card not configured',
  };
}
