import { type ListTasksRequest, type ListTasksResponse, TASK_STATES, type Task, type TaskState } from 'parley-a2a';
import { usageIn } from 'parley-a2a/client';
import { agentFlags } from '../agent/agent-flags.js';
import { withAgent } from '../agent/with-agent.js';
import type { Invocation } from '../command-line/invocation.js';
import { usageError } from '../failure/cli-error.js';
import { LABELS } from '../output/labels.js';
import type { Output } from '../output/output.js';
import { writeArtifactParts } from '../output/part-text.js';
import { artifactParts, shortState, writeSummary } from '../output/task-text.js';
import type { Settings } from '../settings/settings.js';
import { shellWord } from '../task/shell-word.js';

/** Lists a page of tasks, newest first. */
export function run(invocation: Invocation): Promise<number> {
  const { settings, output } = invocation;
  const request = listRequest(settings);
  const timeoutMs = settings.duration('timeout');
  return withAgent(invocation, async ({ client }) => {
    const page = await client.listTasks(request, timeoutMs === undefined ? {} : { timeoutMs });
    if (output.json && settings.isOn('stream')) for (const task of page.tasks) output.line(task);
    else if (output.json) output.document(page);
    else writePage(invocation, page);
    return 0;
  });
}

function listRequest(settings: Settings): ListTasksRequest {
  const status = settings.text('status');
  const contextId = settings.text('context-id');
  const pageSize = settings.count('page-size');
  const pageToken = settings.text('page-token');
  const historyLength = settings.count('history');
  const since = settings.text('since');
  if (pageSize !== undefined && (pageSize < 1 || pageSize > 100)) throw usageError('--page-size is 1 to 100');
  return {
    ...(status !== undefined && { status: parsedState(status) }),
    ...(contextId !== undefined && { contextId }),
    ...(pageSize !== undefined && { pageSize }),
    ...(pageToken !== undefined && { pageToken }),
    ...(historyLength !== undefined && { historyLength }),
    ...(since !== undefined && { statusTimestampAfter: timeOf(since) }),
    ...(settings.isOn('with-artifacts') && { includeArtifacts: true }),
  };
}

/** Parses a state: its wire name, or its short name in any case, such as `input-required`. */
function parsedState(text: string): TaskState {
  const name = text.toUpperCase().replaceAll('-', '_');
  const state = TASK_STATES.find((one) => one === name || one === `TASK_STATE_${name}`);
  if (state !== undefined && state !== 'TASK_STATE_UNSPECIFIED') return state;
  const known = TASK_STATES.slice(1).map((one) => one.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-'));
  throw usageError(`--status is one of ${known.join(', ')}, not "${text}"`);
}

function timeOf(text: string): string {
  const time = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}T/.test(text) || Number.isNaN(time.getTime()))
    throw usageError(`--since is a time such as 2026-01-31T12:00:00Z, not "${text}"`);
  return time.toISOString();
}

function writeTable(output: Output, tasks: readonly Task[]): void {
  const tokens = tasks.map(({ metadata }) => usageIn(metadata)).map((usage) => usage && String(usage.totalTokens));
  // Most agents do not report tokens.
  const column = (text: string | undefined) => (tokens.some((one) => one !== undefined) ? [text ?? ''] : []);
  output.raw(`${LABELS.tasks}:\n`);
  output.table([
    [LABELS.task, LABELS.state, LABELS.time, ...column(LABELS.tokens), LABELS.context],
    ...tasks.map(({ id, contextId, status }, at) => [
      id,
      shortState(status.state),
      status.timestamp ?? '',
      ...column(tokens[at]),
      contextId ?? '',
    ]),
  ]);
}

function writePage(invocation: Invocation, { tasks, nextPageToken, totalSize }: ListTasksResponse): void {
  const { output, settings } = invocation;
  if (!settings.isOn('with-artifacts')) {
    if (tasks.length > 0) writeTable(output, tasks);
  } else
    for (const task of tasks) {
      writeSummary(output, { taskId: task.id, contextId: task.contextId, state: task.status.state });
      output.field(LABELS.time, task.status.timestamp);
      for (const artifact of task.artifacts ?? []) {
        output.field(LABELS.artifact, artifact.name ?? artifact.artifactId);
        writeArtifactParts(output, artifactParts(output, artifact, task));
      }
      output.raw('\n');
    }
  output.field(LABELS.total, String(totalSize));
  if (nextPageToken === '') return;
  const filters = invocation.given
    .filter(({ name }) => ['status', 'context-id', 'since', 'history', 'page-size', 'with-artifacts'].includes(name))
    .map(({ name, value }) => (value === true ? ` --${name}` : ` --${name} ${shellWord(value)}`));
  output.field(
    LABELS.next,
    `parley task list${agentFlags(invocation)}${filters.join('')} --page-token ${shellWord(nextPageToken)}`,
  );
}
