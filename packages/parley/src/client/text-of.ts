import type { Artifact } from '../model/artifact.js';
import type { Message } from '../model/message.js';
import type { Part, TextPart } from '../model/part.js';
import type { AskResult, SendMessageResponse } from '../model/stream-response.js';
import type { Task } from '../model/task.js';
import { refuseArgument } from '../options/refuse-argument.js';

/**
 * Returns the text of a task, an artifact or a message; `''` if there is none. Adjacent text parts of an artifact are
 * one text, because streams append one part per chunk (Spec §3.5.2). Text parts of a message, and texts around a file,
 * get lines of their own. The text of a task is that of its artifacts, or of its status message if they have no text.
 * @throws OptionsError for anything else, such as the answer around a task.
 */
export function textOf(content: Task | Artifact | Message): string {
  const { status: given, parts: said } = Object(content) as { readonly status?: unknown; readonly parts?: unknown };
  if (given === undefined && !Array.isArray(said))
    refuseArgument('textOf', 'a task, an artifact or a message, such as answer.task', content);
  if ('status' in content) {
    const { artifacts = [], status } = content;
    // An artifact may have data only, such as the calls of tools.
    const text = lines(artifacts.map(textOf));
    return text || (status.message ? textOf(status.message) : text);
  }
  const parts = 'artifactId' in content ? joinParts(content.parts) : content.parts;
  return lines(parts.map((part) => (part.text !== undefined ? part.text : '')));
}

/** An answer with its text. */
export function withText(answer: SendMessageResponse): AskResult {
  return { ...answer, text: textOf(answer.task === undefined ? answer.message : answer.task) };
}

/**
 * Returns the parts of an artifact with adjacent text parts joined: a stream splits one text into many chunks. A part
 * with another media type or file name stays separate. A joined part has the metadata of its first chunk.
 */
export function joinParts(parts: readonly Part[]): readonly Part[] {
  if (!Array.isArray(parts)) refuseArgument('joinParts', 'a list of parts', parts);
  const joined: Part[] = [];
  let texts: string[] = [];
  let first: TextPart | undefined;
  const close = (): void => {
    if (first !== undefined) joined.push(texts.length === 1 ? first : { ...first, text: texts.join('') });
    first = undefined;
  };
  for (const part of parts) {
    if (part.text === undefined) {
      close();
      joined.push(part);
    } else if (first !== undefined && part.mediaType === first.mediaType && part.filename === first.filename) {
      texts.push(part.text);
    } else {
      close();
      first = part;
      texts = [part.text];
    }
  }
  close();
  return joined;
}

function lines(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n');
}
