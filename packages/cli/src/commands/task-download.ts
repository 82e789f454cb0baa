import { type Client, joinParts } from 'parley-a2a/client';
import { withAgent } from '../agent/with-agent.js';
import type { Invocation } from '../command-line/invocation.js';
import { usageError } from '../failure/cli-error.js';
import { LABELS } from '../output/labels.js';
import { fileLine } from '../output/part-text.js';
import { writeSummary } from '../output/task-text.js';
import type { FileDownloads } from '../task/file-downloads.js';
import { SavedFiles, tellSaved } from '../task/saved-files.js';

/**
 * Saves the artifacts of a task to disk. Downloads files from the origin of the agent, and from origins in the
 * settings.
 */
export function run(invocation: Invocation): Promise<number> {
  const { args, settings, output } = invocation;
  const [id = ''] = args;
  const wanted = settings.list('artifact-id');
  const timeoutMs = settings.duration('timeout');
  return withAgent(
    invocation,
    async ({ client, thread }) => {
      const task = await client.getTask(id, timeoutMs === undefined ? {} : { timeoutMs });
      thread.learnTask(task);
      const artifacts = (task.artifacts ?? []).filter(
        ({ artifactId }) => wanted.length === 0 || wanted.includes(artifactId),
      );
      const missing = wanted.find((one) => !artifacts.some(({ artifactId }) => artifactId === one));
      if (missing !== undefined) throw usageError(`the task has no artifact ${missing}`);
      const saved = new SavedFiles(settings.text('dir') ?? '.', settings.isOn('force'));
      const references: string[] = [];
      const parts = artifacts.flatMap((artifact) => joinParts(artifact.parts).map((part) => ({ part, artifact })));
      const downloads = parts.some(({ part }) => part.url !== undefined)
        ? await downloadsOf(client, invocation)
        : undefined;
      const contents: (() => void)[] = [];
      for (const { part, artifact } of parts) {
        if (part.url !== undefined && downloads?.allows(part.url) !== true) {
          references.push(output.json ? part.url : fileLine(part));
          continue;
        }
        const path = saved.place(part, artifact);
        if (part.url !== undefined) {
          const file = await downloads?.fetch({ url: part.url, path });
          if (file !== undefined) saved.files.push({ path, artifactId: artifact.artifactId, ...file });
        } else contents.push(() => saved.save(part, artifact, path));
      }
      // Written after the downloads, so that they do not exist yet when a failed download is run again.
      for (const save of contents) save();
      if (output.json) output.document({ files: saved.files, references });
      else {
        writeSummary(output, thread);
        tellSaved(output, saved.files);
        for (const reference of references) output.field(LABELS.file, `${reference} (a reference: not fetched)`);
        if (saved.files.length === 0) output.note('The task has nothing to save.');
      }
      return 0;
    },
    { taskId: id },
  );
}

/** Loads the code for downloads on demand. */
async function downloadsOf(client: Client, invocation: Invocation): Promise<FileDownloads> {
  const { FileDownloads } = await import('../task/file-downloads.js');
  return new FileDownloads(client, invocation);
}
