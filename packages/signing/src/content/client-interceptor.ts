import type { Message, SendMessageRequest, StreamResponse, Task } from 'parley-a2a';
import { InvalidAgentResponseError, isStreaming, type OperationResponse } from 'parley-a2a/binding-kit';
import type { ClientCallContext } from 'parley-a2a/client';
import type { CallOutcome, InterceptedCall, Interceptor } from 'parley-a2a/server';
import type { AnswerVerifier, ExpectedAnswer, SeenTask } from './answer-verifier.js';
import { restoredAnswer } from './carried-labels.js';
import type { OutgoingMessage } from './message-signer.js';
import { UntrustedContentError } from './untrusted-content-error.js';

/** The functions around the calls of a client. */
interface SignedCalls {
  /** The URIs that each call activates. */
  readonly extensions: readonly string[];
  /** Encrypts a message, if that is configured, and signs it. */
  readonly outgoing: (message: Message) => Promise<OutgoingMessage>;
  /** Absent: answers are not verified. */
  readonly answers: AnswerVerifier | undefined;
  /** Decrypts the parts of an answer, or refuses it. Absent: they stay encrypted. */
  readonly opened?: ((event: StreamResponse) => Promise<StreamResponse>) | undefined;
}

type Call = InterceptedCall<ClientCallContext>;

/** An interceptor that signs messages, and verifies answers before the application sees them. */
export function signingInterceptor(calls: SignedCalls): Interceptor<ClientCallContext> {
  return (call, next) => {
    if (isStreaming(call.operation)) return events(calls, call, next) as CallOutcome;
    return callSigned(calls, call, next) as CallOutcome;
  };
}

async function callSigned(
  calls: SignedCalls,
  call: Call,
  next: (call: Call) => CallOutcome,
): Promise<OperationResponse> {
  const { call: signed, expected } = await signCall(calls, call);
  const answer = (await (next(signed) as Promise<OperationResponse>)) as OperationResponse;
  return requireTrusted(() => verifiedAnswer(calls, answer, expected));
}

async function* events(
  calls: SignedCalls,
  call: Call,
  next: (call: Call) => CallOutcome,
): AsyncGenerator<StreamResponse> {
  const { call: signed, expected } = await signCall(calls, call);
  let seen: SeenTask | undefined;
  for await (const event of next(signed) as AsyncIterable<StreamResponse>) {
    // A snapshot may show the end of an earlier turn, which is older than the message.
    const own = event.task !== undefined ? { ...expected, since: undefined } : expected;
    seen = await requireTrusted(async () => calls.answers?.event(event, seen, own));
    yield await requireTrusted(() => forApplication(calls, event));
  }
}

async function signCall(
  { extensions, outgoing: sign }: SignedCalls,
  call: Call,
): Promise<{ readonly call: Call; readonly expected: ExpectedAnswer }> {
  const own = { ...call.context, extensions: [...new Set([...call.context.extensions, ...extensions])] };
  if (!('message' in call.request)) {
    const taskId = namesTask(call.request) ? call.request.id : undefined;
    return { call: { ...call, context: own } as Call, expected: { taskId } };
  }
  const request = call.request as SendMessageRequest;
  const { message, since: signedAt } = await sign(request.message);
  const { taskId, messageId: re } = message;
  const since = request.configuration?.returnImmediately === true ? undefined : signedAt;
  const expected = { re, isNew: taskId === undefined, taskId, since };
  return { call: { ...call, context: own, request: { ...request, message } } as Call, expected };
}

async function verifiedAnswer(
  calls: SignedCalls,
  answer: OperationResponse,
  expected: ExpectedAnswer,
): Promise<OperationResponse> {
  if (answer === undefined) return answer;
  const { answers } = calls;
  const shownTask = async (task: Task) => {
    const event = await forApplication(calls, { task });
    return event.task !== undefined ? event.task : task;
  };
  if ('tasks' in answer) {
    const tasks: Task[] = [];
    for (const task of answer.tasks) {
      await answers?.task(task, { hasArtifacts: false });
      tasks.push(await shownTask(task));
    }
    return { ...answer, tasks };
  }
  if ('message' in answer || 'task' in answer) {
    await answers?.event(answer, undefined, expected);
    return forApplication(calls, answer) as Promise<OperationResponse>;
  }
  if (!('status' in answer)) return answer;
  await answers?.task(answer, expected);
  return shownTask(answer);
}

/** The event for the application: with decrypted parts and restored labels. */
async function forApplication({ answers, opened }: SignedCalls, event: StreamResponse): Promise<StreamResponse> {
  const open = (await opened?.(event)) ?? event;
  return answers === undefined ? open : restoredAnswer(open);
}

/** Converts a fault of the answer to the error of the call. */
async function requireTrusted<T>(check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof UntrustedContentError)) throw error;
    throw new InvalidAgentResponseError(`${error.field} ${error.message}`, { cause: error });
  }
}

/** True for a call about one task. */
function namesTask(request: Call['request']): request is Extract<Call['request'], { readonly id: string }> {
  return 'id' in request && typeof request.id === 'string' && !('taskId' in request);
}
