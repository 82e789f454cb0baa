import type { TaskPushNotificationConfig } from 'parley-a2a';
import type { Client } from 'parley-a2a/client';
import { withAgent } from '../agent/with-agent.js';
import type { Invocation } from '../command-line/invocation.js';
import { CliError, usageError } from '../failure/cli-error.js';
import { LABELS } from '../output/labels.js';
import type { Output } from '../output/output.js';

/** Registers a webhook for a task. */
export function create(invocation: Invocation): Promise<number> {
  const { args, settings, output } = invocation;
  const [taskId = ''] = args;
  const url = settings.text('url');
  const id = settings.text('id');
  const token = settings.text('token');
  const scheme = settings.text('auth-scheme');
  const credentials = settings.text('auth-credentials');
  if (url === undefined) throw usageError('--url names the webhook');
  if (credentials !== undefined && scheme === undefined) throw usageError('--auth-credentials goes with --auth-scheme');
  return call(invocation, async (client, options) => {
    const config = await client.createTaskPushNotificationConfig(
      {
        taskId,
        url,
        ...(id !== undefined && { id }),
        ...(token !== undefined && { token }),
        ...(scheme !== undefined && { authentication: { scheme, ...(credentials !== undefined && { credentials }) } }),
      },
      options,
    );
    show(output, config);
  });
}

/** Prints one webhook of a task. */
export function get(invocation: Invocation): Promise<number> {
  const [taskId = '', id = ''] = invocation.args;
  return call(invocation, async (client, options) => {
    show(invocation.output, await client.getTaskPushNotificationConfig({ taskId, id }, options));
  });
}

/** Lists the webhooks of a task. */
export function list(invocation: Invocation): Promise<number> {
  const { args, settings, output } = invocation;
  const [taskId = ''] = args;
  const pageSize = settings.count('page-size');
  const pageToken = settings.text('page-token');
  const page = { ...(pageSize !== undefined && { pageSize }), ...(pageToken !== undefined && { pageToken }) };
  return call(invocation, async (client, options) => {
    const found = await client.listTaskPushNotificationConfigs({ taskId, ...page }, options);
    if (output.json) output.document(found);
    else {
      for (const config of found.configs) {
        show(output, config);
        output.raw('\n');
      }
      output.field(LABELS.total, String(found.configs.length));
      if (found.nextPageToken !== '') output.field(LABELS.next, `--page-token ${found.nextPageToken}`);
    }
  });
}

/** Removes a webhook of a task. */
export function remove(invocation: Invocation): Promise<number> {
  const { args, output } = invocation;
  const [taskId = '', id = ''] = args;
  return call(invocation, async (client, options) => {
    await client.deleteTaskPushNotificationConfig({ taskId, id }, options);
    if (output.json) output.document({});
    else {
      output.field(LABELS.task, taskId);
      output.field('Removed', id);
    }
  });
}

function call(
  invocation: Invocation,
  run: (client: Client, options: { readonly timeoutMs?: number }) => Promise<void>,
): Promise<number> {
  const timeoutMs = invocation.settings.duration('timeout');
  return withAgent(
    invocation,
    async ({ client }) => {
      if (client.card.capabilities.pushNotifications !== true) {
        const hint = 'parley task get <id> --wait waits instead';
        throw new CliError('PushNotificationNotSupportedError', 'the card of the agent offers no push notifications', {
          hint,
        });
      }
      await run(client, timeoutMs === undefined ? {} : { timeoutMs });
      return 0;
    },
    { taskId: invocation.args[0] },
  );
}

function show(output: Output, config: TaskPushNotificationConfig): void {
  if (output.json) {
    output.document(config);
    return;
  }
  output.field(LABELS.task, config.taskId);
  output.field('Webhook', config.id);
  output.field('URL', config.url);
  if (config.token !== undefined) output.field('Token', '<redacted>');
  output.field('Authentication', config.authentication?.scheme);
}
