import { SendMessageRequest, SendMessageResponse, StreamResponse } from '@a2a-js/sdk';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import { CHUNKS, chunkText, QUESTION } from '../workloads.js';

const ids = { taskId: '0190b7c2-2222-7abc-8def-0123456789ab', contextId: '5e0c2f0a-6f0e-4a54-9c3d-0123456789ab' };
const timestamp = '2026-01-01T00:00:00.000Z';
const status = (state: string) => ({ statusUpdate: { ...ids, status: { state, timestamp } } });
const message = {
  messageId: '9a9b9c9d-3a3b-4c4d-8e8f-0123456789ab',
  role: 'ROLE_USER',
  parts: [{ text: QUESTION }],
};

/** The fixed answer of a bare server to `call`. It has the shape and the size of ours. */
export const CALL_ANSWER = { message: { ...message, role: 'ROLE_AGENT', contextId: ids.contextId } };

/** The fixed events of a bare server. */
export const STREAM_EVENTS_SENT: readonly object[] = [
  {
    task: {
      id: ids.taskId,
      contextId: ids.contextId,
      status: { state: 'TASK_STATE_SUBMITTED', timestamp },
      history: [{ ...message, ...ids }],
    },
  },
  status('TASK_STATE_WORKING'),
  ...Array.from({ length: CHUNKS }, (_, index) => ({
    artifactUpdate: {
      ...ids,
      artifact: { artifactId: '7d1f3b1c-2a2b-4c4d-8e8f-0123456789ab', parts: [{ text: chunkText(index) }] },
      ...(index > 0 && { append: true }),
    },
  })),
  status('TASK_STATE_COMPLETED'),
];

/** True if an event comes in a turn of the event loop of its own, as the chunks of an agent do. */
export function comesAlone(index: number): boolean {
  return index >= 2 && index < STREAM_EVENTS_SENT.length - 1;
}

/** The answers as messages of gRPC. */
export const GRPC_ANSWERS = {
  call: () => A2AService.sendMessage.responseSerialize(SendMessageResponse.fromJSON(CALL_ANSWER) as never),
  stream: () =>
    STREAM_EVENTS_SENT.map((event) =>
      A2AService.sendStreamingMessage.responseSerialize(StreamResponse.fromJSON(event) as never),
    ),
};

const NUMBER_PLACE = '#'.repeat(12);

/** The request of a caller with one number after the other in the id of its message. */
export class WireRequests {
  readonly #run = Math.random().toString(36).slice(2, 8);
  #number = 0;

  /** The request as JSON. */
  next(): { readonly message: { messageId: string; role: 'ROLE_USER'; parts: [{ text: string }] } } {
    this.#number += 1;
    const messageId = `${this.#run}-${String(this.#number).padStart(12, '0')}`;
    return { message: { messageId, role: 'ROLE_USER', parts: [{ text: QUESTION }] } };
  }

  /** The requests as messages of gRPC. Each one is a copy with another number, so that the caller encodes nothing. */
  asBytes(): () => Buffer {
    const named = { message: { ...message, messageId: `${this.#run}-${NUMBER_PLACE}` } };
    const template = A2AService.sendMessage.requestSerialize(SendMessageRequest.fromJSON(named) as never);
    const place = template.indexOf(NUMBER_PLACE);
    return () => {
      this.#number += 1;
      const bytes = Buffer.from(template);
      bytes.write(String(this.#number).padStart(12, '0'), place, 'latin1');
      return bytes;
    };
  }
}
