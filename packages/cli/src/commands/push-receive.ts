import type { StreamResponse } from 'parley-a2a';
import type { Invocation } from '../command-line/invocation.js';
import { usageError } from '../failure/cli-error.js';
import { LABELS } from '../output/labels.js';
import type { Output } from '../output/output.js';
import { writeParts } from '../output/part-text.js';
import { writeMessage, writeSummary, writeTask } from '../output/task-text.js';
import { notificationReceiver } from '../push/notification-receiver.js';
import { portOf, started } from '../serve/listening.js';
import { shellWord } from '../task/shell-word.js';

/** Receives push notifications and shows them as they arrive, until a signal stops it. */
export async function run({ settings, output }: Invocation): Promise<number> {
  const place = { port: portOf(settings.text('port')), host: settings.text('host') ?? '127.0.0.1' };
  const token = settings.text('token');
  const authorization = authorizationIn(settings.text('auth-scheme'), settings.text('auth-credentials'));
  const receiver = notificationReceiver({
    token,
    authorization,
    onNotification: (notification) => {
      if (output.json) output.line(notification);
      else writeNotification(output, notification);
    },
    onRefusal: (status, reason) => output.warn(`a request was refused: ${status}, ${reason}`),
  });
  const { url: origin, stopped } = await started(receiver, place);
  const url = `${origin}/`;
  output.note(`Webhook: ${url}`);
  const secrets = [
    ...(token === undefined ? [] : ['--token …']),
    ...(authorization === undefined ? [] : ['--auth-scheme …']),
  ];
  output.note(`To it: ${['parley task push-config create <task> --url', shellWord(url), ...secrets].join(' ')}`);
  await stopped;
  return 0;
}

function authorizationIn(scheme: string | undefined, credentials: string | undefined): string | undefined {
  if (scheme === undefined && credentials === undefined) return undefined;
  if (scheme === undefined || credentials === undefined)
    throw usageError('--auth-scheme and --auth-credentials go together');
  return `${scheme} ${credentials}`;
}

/** Each notification names its task, because several tasks may be mixed. */
function writeNotification(output: Output, notification: StreamResponse): void {
  if ('task' in notification) writeTask(output, notification.task);
  else if ('message' in notification) writeMessage(output, notification.message);
  else if ('statusUpdate' in notification) {
    const { taskId, contextId, status } = notification.statusUpdate;
    writeSummary(output, { taskId, contextId, state: status.state });
    writeParts(output, status.message?.parts ?? [], LABELS.message);
  } else {
    const { taskId, contextId, artifact } = notification.artifactUpdate;
    writeSummary(output, { taskId, contextId, state: undefined });
    output.field(LABELS.artifact, artifact.name || artifact.artifactId);
    writeParts(output, artifact.parts);
  }
}
