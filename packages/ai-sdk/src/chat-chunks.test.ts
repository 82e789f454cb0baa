import { readUIMessageStream } from 'ai';
import type { Part, StreamResponse, TaskState } from 'parley-a2a';
import { approvalQuestion } from 'parley-a2a/kit';
import { TOOLS_EXTENSION } from 'parley-a2a/tools';
import { expect, it } from 'vitest';
import { type A2AChatMessage, type AnswerStart, ChatChunks } from './chat-chunks.js';
import { MODEL_OUTPUT_EXTENSION } from './model-output.js';

const OF_TASK = { taskId: 't', contextId: 'c' };

const status = (state: TaskState, parts: readonly Part[] = [], extensions: readonly string[] = []): StreamResponse => ({
  statusUpdate: {
    ...OF_TASK,
    status: {
      state,
      ...(parts.length > 0 && {
        message: { messageId: `${state}${parts.length}`, role: 'ROLE_AGENT', parts, extensions },
      }),
    },
  },
});

const artifact = (
  artifactId: string,
  parts: readonly Part[],
  more: { readonly append?: boolean; readonly content?: string } = {},
): StreamResponse => ({
  artifactUpdate: {
    ...OF_TASK,
    artifact: {
      artifactId,
      parts,
      ...(more.content !== undefined && { metadata: { [MODEL_OUTPUT_EXTENSION]: { content: more.content } } }),
    },
    append: more.append ?? false,
  },
});

const call = (change: Readonly<Record<string, unknown>>): StreamResponse => ({
  artifactUpdate: {
    ...OF_TASK,
    artifact: {
      artifactId: 'tool-calls',
      parts: [{ data: { toolCall: change as never } }],
      extensions: [TOOLS_EXTENSION],
    },
    append: true,
  },
});

const requested = { id: '1.1', tool: 'pay', state: 'requested', run: 1, messageIds: ['m'], input: { euros: 5 } };
const expiresAt = '2030-01-01T00:00:00Z';
const question = {
  data: { toolApprovals: [{ callId: '1.1', tool: 'pay', input: { euros: 5 }, expiresAt, reason: 'Much' }] },
};
const asked = approvalQuestion(question.data.toolApprovals).parts[0]?.text;
const done = status('TASK_STATE_COMPLETED');
const tool = { type: 'dynamic-tool', toolCallId: '1.1', toolName: 'pay', input: { euros: 5 } };

/** The events of an answer, and the parts of the message that the AI SDK reads in its stream. */
const TABLE: readonly { name: string; events: readonly StreamResponse[]; parts: readonly object[]; error?: string }[] =
  [
    {
      name: 'a message without a task',
      events: [{ message: { messageId: 'a', role: 'ROLE_AGENT', parts: [{ text: 'Hi' }] } }],
      parts: [{ type: 'text', text: 'Hi', state: 'done' }],
    },
    {
      name: 'a text that grows',
      events: [artifact('a', [{ text: 'on' }]), artifact('a', [{ text: 'e' }], { append: true }), done],
      parts: [{ type: 'text', text: 'one', state: 'done' }],
    },
    {
      name: 'two texts',
      events: [artifact('a', [{ text: 'one' }]), artifact('b', [{ text: 'two' }]), done],
      parts: [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ],
    },
    {
      name: 'reasoning',
      events: [artifact('r', [{ text: 'Hm' }], { content: 'reasoning' }), artifact('a', [{ text: 'Yes' }]), done],
      parts: [
        { type: 'reasoning', text: 'Hm' },
        { type: 'text', text: 'Yes' },
      ],
    },
    {
      name: 'a file with bytes',
      events: [artifact('f', [{ raw: 'aGk=', mediaType: 'text/plain' }]), done],
      parts: [{ type: 'file', mediaType: 'text/plain', url: 'data:text/plain;base64,aGk=' }],
    },
    {
      name: 'a file at a url',
      events: [artifact('f', [{ url: 'https://a.test/b', mediaType: 'image/png' }]), done],
      parts: [{ type: 'file', mediaType: 'image/png', url: 'https://a.test/b' }],
    },
    {
      name: 'urls that run or read something',
      events: [
        artifact('f', [
          { url: 'javascript:alert(1)' },
          { url: 'file:///etc/passwd' },
          { url: 'data:text/html,x' },
          { url: 'no url' },
        ]),
        done,
      ],
      parts: [],
    },
    {
      name: 'a media type that breaks out of its url',
      events: [artifact('f', [{ raw: 'aGk=', mediaType: 'text/html,<script>' }]), done],
      parts: [{ type: 'file', mediaType: 'application/octet-stream' }],
    },
    {
      name: 'sources',
      events: [artifact('s', [{ url: 'https://a.test/', filename: 'A' }], { content: 'sources' }), done],
      parts: [{ type: 'source-url', url: 'https://a.test/', title: 'A' }],
    },
    {
      name: 'data',
      events: [artifact('d', [{ data: { n: 1 } }]), done],
      parts: [{ type: 'data-a2a', data: { n: 1 } }],
    },
    {
      name: 'a call of a tool',
      events: [
        call(requested),
        call({ id: '1.1', tool: 'pay', state: 'running' }),
        call({ id: '1.1', tool: 'pay', state: 'succeeded', output: 'ok' }),
        done,
      ],
      parts: [{ ...tool, state: 'output-available', output: 'ok', providerExecuted: true }],
    },
    {
      name: 'a call that is known at its end only',
      events: [call({ ...requested, state: 'succeeded', output: 1 }), done],
      parts: [{ ...tool, state: 'output-available', output: 1 }],
    },
    {
      name: 'a call that fails',
      events: [
        call(requested),
        call({ id: '1.1', tool: 'pay', state: 'failed', failure: { reason: 'threw', message: 'No money' } }),
        done,
      ],
      parts: [{ ...tool, state: 'output-error', errorText: 'No money' }],
    },
    {
      name: 'a call that changes after its end',
      events: [
        call({ ...requested, state: 'succeeded', output: 1 }),
        call({ id: '1.1', tool: 'pay', state: 'failed' }),
        done,
      ],
      parts: [{ ...tool, state: 'output-available', output: 1 }],
    },
    {
      name: 'a question about a call',
      events: [
        call(requested),
        status('TASK_STATE_INPUT_REQUIRED', [{ text: `Sure?\n\n${asked}` }, question], [TOOLS_EXTENSION]),
      ],
      parts: [
        { ...tool, state: 'approval-requested', approval: { id: '1.1', requestReason: 'Much' } },
        { type: 'text', text: 'Sure?' },
      ],
    },
    {
      name: 'a question about a call that is not recorded',
      events: [status('TASK_STATE_INPUT_REQUIRED', [question])],
      parts: [{ ...tool, state: 'approval-requested' }],
    },
    {
      name: 'a question',
      events: [status('TASK_STATE_INPUT_REQUIRED', [{ text: 'Which?' }])],
      parts: [{ type: 'text', text: 'Which?' }],
    },
    {
      name: 'an authorization',
      events: [
        status('TASK_STATE_AUTH_REQUIRED', [
          { text: 'Sign in' },
          { data: { authorization: { url: 'https://id.test/', scopes: ['a', 1] } } },
        ]),
        done,
      ],
      parts: [
        { type: 'text', text: 'Sign in' },
        { type: 'data-authorization', data: { url: 'https://id.test/', scopes: ['a'] } },
      ],
    },
    {
      name: 'an authorization at a url that runs',
      events: [status('TASK_STATE_AUTH_REQUIRED', [{ data: { authorization: { url: 'javascript:alert(1)' } } }]), done],
      parts: [{ type: 'data-authorization', data: {} }],
    },
    {
      name: 'a failure',
      events: [artifact('a', [{ text: 'Half' }]), status('TASK_STATE_FAILED', [{ text: 'No paper' }])],
      parts: [{ type: 'text', text: 'Half' }],
      error: 'No paper',
    },
    {
      name: 'a rejection without a text',
      events: [status('TASK_STATE_REJECTED')],
      parts: [],
      error: 'The agent rejected the task',
    },
    {
      name: 'a canceled task',
      events: [status('TASK_STATE_CANCELED')],
      parts: [],
      error: 'The task of the agent was canceled',
    },
    { name: 'a text about the work', events: [status('TASK_STATE_WORKING', [{ text: 'Step 1' }]), done], parts: [] },
    {
      name: 'a snapshot that repeats what was shown',
      events: [
        artifact('a', [{ text: 'one' }]),
        {
          task: {
            id: 't',
            contextId: 'c',
            status: { state: 'TASK_STATE_WORKING' },
            artifacts: [{ artifactId: 'a', parts: [{ text: 'one two' }] }],
          },
        },
        done,
      ],
      parts: [{ type: 'text', text: 'one two' }],
    },
  ];

it.each(TABLE)('$name', async ({ events, parts, error }) => {
  const read = await messageOf(events);
  expect(read.parts).toMatchObject(parts);
  expect(read.parts).toHaveLength(parts.length);
  expect(read.error).toBe(error);
});

it('leaves out what a continued task had before', async () => {
  const before = [{ artifactId: 'a', parts: [{ text: 'Old.' }] }];
  const task = { id: 't', contextId: 'c', artifacts: before, status: { state: 'TASK_STATE_INPUT_REQUIRED' as const } };
  const events = [{ task }, artifact('a', [{ text: ' New.' }], { append: true }), done];
  expect((await messageOf(events, { continuedTaskId: 't' })).parts).toMatchObject([{ type: 'text', text: ' New.' }]);
  const again = { task: { ...task, artifacts: [{ artifactId: 'a', parts: [{ text: 'Old. New.' }] }] } };
  expect((await messageOf([again, done], { earlier: before })).parts).toMatchObject([{ type: 'text', text: ' New.' }]);
});

it('goes on with the calls that the message has', async () => {
  const message = (await messageOf([call(requested), status('TASK_STATE_INPUT_REQUIRED', [question])])).message;
  const events = [call({ id: '1.1', tool: 'pay', state: 'succeeded', output: 'ok' }), done];
  const { parts } = await messageOf(events, { callIds: ['1.1'] }, message);
  expect(parts).toMatchObject([{ ...tool, state: 'output-available', output: 'ok' }]);
});

/** The message that the AI SDK reads, without the marks of its steps. */
async function messageOf(events: readonly StreamResponse[], start: Partial<AnswerStart> = {}, before?: A2AChatMessage) {
  const chunks = new ChatChunks({ messageId: 'answer', ...start });
  const all = [...chunks.begin(), ...events.flatMap((event) => [...chunks.take(event)]), ...chunks.end()];
  let error: string | undefined;
  let message = before;
  const read = readUIMessageStream<A2AChatMessage>({
    stream: new ReadableStream({
      start(controller) {
        for (const chunk of all) controller.enqueue(chunk);
        controller.close();
      },
    }),
    ...(before && { message: before }),
    onError: (fault) => {
      error = (fault as Error).message;
    },
  });
  for await (const one of read) message = one;
  return { message, error, parts: message?.parts.filter(({ type }) => type !== 'step-start') ?? [] };
}
