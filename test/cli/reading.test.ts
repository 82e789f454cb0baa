import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EmptyFolder, parley } from './parley.js';
import { type Answer, RecordingAgent, result, stream } from './recording-agent.js';

const pieces = ['The answer ', 'is ', '42.'].map((text) => ({ text }));
const task = {
  id: 't-1',
  contextId: 'c-1',
  status: { state: 'TASK_STATE_COMPLETED' },
  artifacts: [
    { artifactId: 'a-1', name: 'report.md', parts: [...pieces, { data: { n: 1 } }, { text: 'Be' }, { text: 'hind' }] },
    { artifactId: 'a-2', parts: [{ text: 'plain', mediaType: 'text/markdown' }, { text: '!' }] },
  ],
};
const read = 'Text:\nThe answer is 42.\n\nData:\n{\n  "n": 1\n}\n\nText:\nBehind\n\n';
const answerFinished: Answer = ({ body }) => result(body.method === 'SendMessage' ? { task } : task);

it('--verbose prints the trace id of a task, or its page in a tracing tool', async () => {
  const id = '0af7651916cd43dd8448eb211c80319c';
  const trace = { traceparent: `00-${id}-b7ad6b7169203331-01`, turn: 1, attempt: 1, handOvers: 0, since: 1 };
  const traced = { ...task, metadata: { 'urn:parley-a2a:trace:v1': trace } };
  await using agent = await RecordingAgent.start({ answer: () => result(traced) });
  const get = ['task', 'get', 't-1', '-a', agent.url];
  expect((await parley(get)).stdout).not.toContain(id);
  expect((await parley([...get, '--verbose'])).stdout).toContain(`Trace: ${id}\n`);
  const linked = await parley([...get, '--verbose', '--trace-url', 'http://localhost:16686/trace/{traceId}']);
  expect(linked.stdout).toContain(`Trace: http://localhost:16686/trace/${id}\n`);
});

describe('a streamed artifact', () => {
  it.for([['send', 'x'], ['task', 'get', 't-1'], ['chat']])('is printed as one text by %j', async (args) => {
    await using agent = await RecordingAgent.start({ answer: answerFinished });
    const { stdout } = await parley([...args, '-a', agent.url], { input: 'x\n' });
    expect(stdout).toContain(`Artifact: report.md\n${read}`);
  });

  it('separates texts with different media types, and with --verbose those with different metadata', async () => {
    await using agent = await RecordingAgent.start({ answer: answerFinished });
    expect((await parley(['task', 'get', 't-1', '-a', agent.url])).stdout).toContain('Text:\nplain\n\nText:\n!\n');
    const marked = {
      ...task,
      artifacts: [{ artifactId: 'a', parts: [{ text: 'a', metadata: { n: 1 } }, { text: 'b' }] }],
    };
    await using other = await RecordingAgent.start({ answer: () => result(marked) });
    const get = ['task', 'get', 't-1', '-a', other.url];
    expect((await parley(get)).stdout).toContain('Text:\nab\n');
    expect((await parley([...get, '--verbose'])).stdout).toContain('Text:\na\n\nMetadata: {"n":1}\nText:\nb\n');
  });

  it('is printed as one text if the stream begins with the whole task', async () => {
    const card = { capabilities: { streaming: true } };
    await using agent = await RecordingAgent.start({ card, answer: () => stream({ task }) });
    expect((await parley(['send', 'x', '--stream', '-a', agent.url])).stdout).toContain(read);
  });

  it('keeps its name after a status update', async () => {
    const ids = { taskId: 't-1', contextId: 'c-1' };
    const status = (state: string) => ({ statusUpdate: { ...ids, status: { state: `TASK_STATE_${state}` } } });
    const events = [
      { task: { ...task, artifacts: [], status: { state: 'TASK_STATE_WORKING' } } },
      { artifactUpdate: { ...ids, artifact: { artifactId: 'a-1', name: 'report', parts: [{ text: 'one ' }] } } },
      status('WORKING'),
      { artifactUpdate: { ...ids, append: true, artifact: { artifactId: 'a-1', parts: [{ text: 'two' }] } } },
      status('COMPLETED'),
    ];
    const card = { capabilities: { streaming: true } };
    await using agent = await RecordingAgent.start({ card, answer: () => stream(...events) });
    const { stdout } = await parley(['send', 'x', '--stream', '-a', agent.url]);
    expect(stdout).toContain('Artifact: report\nText:\none \n\nState: WORKING\nArtifact: report\nText:\ntwo\n');
    expect(stdout).not.toContain('a-1');
  });

  it('is one file, with one extension', async () => {
    using folder = new EmptyFolder();
    await using agent = await RecordingAgent.start({
      answer: () =>
        result({
          ...task,
          artifacts: [
            { artifactId: 'a-1', name: 'report.md', parts: pieces },
            { artifactId: 'a-2', name: 'main.py', parts: pieces },
            { artifactId: 'a-3', name: 'release v1.2', parts: [...pieces, { text: '' }] },
            {
              artifactId: 'a-4',
              name: 'table',
              parts: [
                { text: 'a,', mediaType: 'text/csv' },
                { text: 'b', mediaType: 'text/csv' },
              ],
            },
          ],
        }),
    });
    const { code } = await parley(['task', 'download', 't-1', '--dir', folder.path, '-a', agent.url]);
    expect(code).toBe(0);
    expect(readdirSync(folder.path).sort()).toEqual(['main.py', 'release v1.2.txt', 'report.md', 'table.csv']);
    expect(readFileSync(join(folder.path, 'report.md'), 'utf8')).toBe('The answer is 42.');
    expect(readFileSync(join(folder.path, 'table.csv'), 'utf8')).toBe('a,b');
  });
});

describe('the tokens of a task', () => {
  const usage = { inputTokens: 120, outputTokens: 30, cachedInputTokens: 100, calledTokens: 40 };
  const used = { ...task, metadata: { 'urn:parley-a2a:extension:usage:v1': usage } };

  it('are a line of a task, and a column of the list', async () => {
    await using agent = await RecordingAgent.start({
      answer: ({ body }) =>
        result(
          body.method === 'GetTask' ? used : { tasks: [used, task], nextPageToken: '', pageSize: 2, totalSize: 2 },
        ),
    });
    const shown = await parley(['task', 'get', 't-1', '-a', agent.url]);
    expect(shown.stdout).toContain('Tokens: 120 in (100 cached), 30 out, 40 by called agents\n');
    const { stdout } = await parley(['task', 'list', '-a', agent.url]);
    expect(stdout).toMatch(/^Task +State +Time +Tokens +Context$/m);
    expect(stdout).toMatch(/^t-1 .*COMPLETED +190 +c-1$/m);
  });

  it('are omitted for agents that report none', async () => {
    await using agent = await RecordingAgent.start({
      answer: ({ body }) =>
        result(body.method === 'GetTask' ? task : { tasks: [task], nextPageToken: '', pageSize: 1, totalSize: 1 }),
    });
    expect((await parley(['task', 'get', 't-1', '-a', agent.url])).stdout).not.toContain('Tokens');
    expect((await parley(['task', 'list', '-a', agent.url])).stdout).not.toContain('Tokens');
  });
});
