import type { A2AError } from '../../errors/a2a-error.js';
import { InvalidParamsError } from '../../errors/standard-errors.js';
import type { AgentCard } from '../../model/agent-card.js';
import { isObject } from '../../model/json.js';
import type {
  ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from '../../model/push-notification-config.js';
import type { SendMessageResponse } from '../../model/stream-response.js';
import type { Task } from '../../model/task.js';
import type { OperationName, OperationTypes, UnaryOperationName } from '../../operations/operations.js';
import { decodeRequest } from '../v1_0/decode.js';
import type { ErrorWords, WireCodec, WireForm, WireRoute } from '../wire-codec.js';
import { writeAgentCard, writeProtoCard } from './agent-card.js';
import { type Dialect, KINDS, PROTO_JSON } from './dialect.js';
import { oldField, oldWords } from './fields.js';
import { kindViolations } from './kinds.js';
import { METHODS } from './methods.js';
import { writeTaskPushNotificationConfig } from './push-notification-config.js';
import { requestReaders } from './requests.js';
import { ROUTES } from './routes.js';
import { writeStreamResponse } from './stream-response.js';
import { writeTask } from './task.js';

/** What tells the codecs of the versions before 1.0 apart. */
export interface OldVersion {
  /** With its patch number, as the card shows it. */
  readonly protocolVersion: string;
  /** `Major.Minor`. */
  readonly version: string;
  readonly dialect: Dialect;
  readonly methods: ReadonlyMap<string, OperationName>;
  readonly routes: readonly WireRoute[];
}

/** Version 0.3 over JSON-RPC. */
export const v0_3JsonRpc = oldCodec({
  protocolVersion: '0.3.0',
  version: '0.3',
  dialect: KINDS,
  methods: METHODS,
  routes: [],
});

/** Version 0.3 over HTTP+JSON. */
export const v0_3HttpJson = oldCodec({
  protocolVersion: '0.3.0',
  version: '0.3',
  dialect: PROTO_JSON,
  methods: new Map(),
  routes: ROUTES,
});

/** The codec of a version before 1.0 in one of its dialects: the model of 1.0, converted at the edge. */
export function oldCodec({ protocolVersion, version, dialect, methods, routes }: OldVersion): WireCodec {
  const readers = requestReaders(dialect);
  return {
    version,
    methods,
    routes,
    decode,
    encode: (operation, response) => JSON.stringify(encode(operation, response)),
    encodeEvent: (item) => JSON.stringify(writeStreamResponse(dialect, item)),
    encodeCard: (card) => JSON.stringify(writeAgentCard(protocolVersion, card)),
    framesErrors: true,
    wordsOf,
  };

  function decode<Name extends OperationName>(
    operation: Name,
    value: unknown,
    form?: WireForm,
  ): OperationTypes[Name]['request'] {
    const wrong = operation === 'sendMessage' || operation === 'sendStreamingMessage' ? kindViolations(value) : [];
    if (wrong.length > 0) throw new InvalidParamsError(wrong);
    try {
      return decodeRequest(operation, isObject(value) ? readers[operation](value) : value, form);
    } catch (error) {
      throw error instanceof InvalidParamsError ? inOldNames(dialect, operation, error) : error;
    }
  }

  function encode(operation: UnaryOperationName, response: unknown): unknown {
    switch (operation) {
      case 'sendMessage':
        return writeStreamResponse(dialect, { event: response as SendMessageResponse });
      case 'getTask':
      case 'cancelTask':
        return writeTask(dialect, response as Task);
      case 'getExtendedAgentCard': {
        const write = dialect.kinds ? writeAgentCard : writeProtoCard;
        return write(protocolVersion, response as AgentCard);
      }
      case 'listTaskPushNotificationConfigs': {
        const { configs, nextPageToken } = response as ListTaskPushNotificationConfigsResponse;
        const written = configs.map((config) => writeTaskPushNotificationConfig(dialect, config));
        return dialect.kinds ? written : { configs: written, nextPageToken };
      }
      case 'deleteTaskPushNotificationConfig':
        return dialect.kinds ? null : {};
      default:
        return writeTaskPushNotificationConfig(dialect, response as TaskPushNotificationConfig);
    }
  }
}

function inOldNames(dialect: Dialect, operation: OperationName, error: InvalidParamsError): InvalidParamsError {
  const violations = error.details.violations?.map(({ field, description }) => ({
    field: oldField(dialect, operation, field),
    description: oldWords(description),
  }));
  return new InvalidParamsError(violations ?? [], error.message);
}

/** The one error that had another name. */
function wordsOf({ code, message }: A2AError): ErrorWords {
  if (code !== 'EXTENDED_AGENT_CARD_NOT_CONFIGURED') return { reason: code, message };
  return {
    reason: 'AUTHENTICATED_EXTENDED_CARD_NOT_CONFIGURED',
    message: 'Authenticated Extended Card not configured',
  };
}
