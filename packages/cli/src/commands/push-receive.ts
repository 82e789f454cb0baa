import type { StreamResponse } from 'parley-a2a';
import { PushReceiver } from 'parley-a2a/push-receiver';
import type { Invocation } from '../command-line/invocation.js';
import { usageError } from '../failure/cli-error.js';
import { LABELS } from '../output/labels.js';
import type { Output } from '../output/output.js';
import { writeArtifactParts, writeParts } from '../output/part-text.js';
import { stepIn, writeMessage, writeSummary, writeTask } from '../output/task-text.js';
import { portOf, startPlainServer } from '../serve/listening.js';
import { shellWord } from '../task/shell-word.js';

/**
 * Names of this machine. Without this check, a page with a rebound DNS name could reach a webhook that has no secret.
 */
const LOCAL = ['localhost', '127.0.0.1', '[::1]'];

/** Receives push notifications and prints them as they arrive, until a signal stops it. */
export async function run({ settings, output }: Invocation): Promise<number> {
  const place = { port: portOf(settings.text('port')), host: settings.text('host') ?? '127.0.0.1' };
  const token = settings.text('token');
  const authentication = authenticationIn(settings.text('auth-scheme'), settings.text('auth-credentials'));
  const isOpen = token === undefined && authentication === undefined;
  const receiver = new PushReceiver({
    ...(token !== undefined && { token }),
    ...(authentication !== undefined && { authentication }),
    ...(isOpen && {
      allowAnonymous: true,
      hosts: [...LOCAL, place.host.includes(':') ? `[${place.host}]` : place.host],
    }),
    onNotification: ({ event }) => {
      if (output.json) output.line(event);
      else writeNotification(output, event);
    },
    onRefusal: ({ status, reason }) => output.warn(`a request was refused: ${status}, ${reason}${hintFor(status)}`),
  });
  const { url: origin, stopped } = await startPlainServer(receiver.listener, place);
  const url = `${origin}/`;
  output.note(`Webhook: ${url}`);
  const secrets = [
    ...(token === undefined ? [] : ['--token …']),
    ...(authentication === undefined ? [] : ['--auth-scheme …']),
  ];
  output.note(`To it: ${['parley task push-config create <task> --url', shellWord(url), ...secrets].join(' ')}`);
  await stopped;
  return 0;
}

function hintFor(status: number): string {
  return status === 421 ? '; with --token every host is taken' : '';
}

function authenticationIn(scheme: string | undefined, credentials: string | undefined) {
  if (scheme === undefined && credentials === undefined) return undefined;
  if (scheme === undefined || credentials === undefined)
    throw usageError('--auth-scheme and --auth-credentials go together');
  return { scheme, credentials };
}

/** Prints the task of each notification, because tasks may be interleaved. */
function writeNotification(output: Output, notification: StreamResponse): void {
  if (notification.task !== undefined) writeTask(output, notification.task);
  else if (notification.message !== undefined) writeMessage(output, notification.message);
  else if (notification.statusUpdate !== undefined) {
    const { taskId, contextId, status, metadata } = notification.statusUpdate;
    writeSummary(output, { taskId, contextId, state: status.state });
    output.field(LABELS.step, stepIn(metadata));
    writeParts(output, status.message?.parts ?? [], LABELS.message);
  } else {
    const { taskId, contextId, artifact } = notification.artifactUpdate;
    writeSummary(output, { taskId, contextId, state: undefined });
    output.field(LABELS.artifact, artifact.name || artifact.artifactId);
    writeArtifactParts(output, artifact.parts);
  }
}
