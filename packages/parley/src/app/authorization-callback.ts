import { type ReceivedReply, readReply } from '../bindings/http/authorization-reply.js';
import { beginRecord, type CallRecord } from '../bindings/http/call-record.js';
import { httpStatus } from '../bindings/http/error-numbers.js';
import type { ExchangeRequest, ExchangeResponse } from '../bindings/http/exchange.js';
import { A2AError } from '../errors/a2a-error.js';
import type { ServedAgent } from './served-agent.js';

/** Nothing of the request is in the answers, and no page learns the address with its query. */
const HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'",
  'x-content-type-options': 'nosniff',
});
const RECEIVED = 'The answer has arrived. You can close this page.\n';
const UNKNOWN = 'This link is unknown, has expired, or was used before.\n';

/** Hands the reply in a request to its agent. Loaded when the first one arrives. */
export async function answerCallback(agent: ServedAgent, request: ExchangeRequest): Promise<ExchangeResponse> {
  const call = beginRecord('CALLBACK');
  call.agent = agent.id;
  let received: ReceivedReply;
  try {
    received = await readReply(request);
  } catch (error) {
    if (!(error instanceof A2AError)) throw error;
    call.code = error.code;
    return answer(httpStatus(error), `${error.message}\n`, call);
  }
  const taskId = await agent.authorize(received.state, received.reply);
  call.taskId = taskId;
  if (taskId !== undefined) return answer(200, RECEIVED, call);
  call.code = 'TASK_NOT_FOUND';
  return answer(404, UNKNOWN, call);
}

function answer(status: number, body: string, call: CallRecord): ExchangeResponse {
  return { status, headers: HEADERS, body, call };
}
