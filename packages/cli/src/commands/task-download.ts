import { joinedParts } from 'parley-a2a/client';
import { withAgent } from '../agent/with-agent.js';
import type { Invocation } from '../command-line/invocation.js';
import { usageError } from '../failure/cli-error.js';
import { LABELS } from '../output/labels.js';
import { fileLine } from '../output/part-text.js';
import { writeSummary } from '../output/task-text.js';
import { SavedFiles, tellSaved } from '../task/saved-files.js';

/** Saves the artifacts of a task to disk. Shows references, but does not fetch them. */
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
      for (const artifact of artifacts) {
        for (const part of joinedParts(artifact.parts)) {
          saved.save(part, artifact);
          if ('url' in part) references.push(output.json ? part.url : fileLine(part));
        }
      }
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
