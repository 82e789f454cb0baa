import { randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Artifact, Part, StreamResponse, Task } from 'parley-a2a';
import type { Invocation } from '../command-line/invocation.js';
import { CliError } from '../failure/cli-error.js';
import { extensionOf } from '../message/message-parts.js';
import { LABELS } from '../output/labels.js';
import type { Output } from '../output/output.js';

/** A written file. */
interface SavedFile {
  readonly path: string;
  readonly artifactId: string;
  readonly mediaType: string | null;
  readonly bytes: number;
}

/**
 * Writes parts of artifacts into a folder. File names cannot leave that folder, and existing files are kept unless the
 * user allows to replace them.
 */
export class SavedFiles {
  readonly #folder: string;
  readonly #overwrite: boolean;
  readonly #names = new Set<string>();
  readonly files: SavedFile[] = [];

  constructor(folder: string, overwrite: boolean) {
    this.#folder = folder;
    this.#overwrite = overwrite;
  }

  /** Returns the path of a part. The same parts get the same paths in every run. */
  place(part: Part, { artifactId, name }: Pick<Artifact, 'artifactId' | 'name'>): string {
    const extension =
      extensionOf(part.mediaType) ?? (part.text !== undefined ? 'txt' : part.data !== undefined ? 'json' : 'bin');
    const wanted = part.filename ?? withExtension(name || artifactId, extension);
    return join(this.#folder, this.#free(safeName(wanted)));
  }

  /** Saves one part. A reference is not fetched, and nothing is written. */
  save(part: Part, artifact: Pick<Artifact, 'artifactId' | 'name'>, place?: string): void {
    const content = contentOf(part);
    if (content === undefined) return;
    const { artifactId } = artifact;
    const path = place ?? this.place(part, artifact);
    mkdirSync(this.#folder, { recursive: true });
    if (this.#overwrite) replaceFile(path, content);
    else createFile(path, content);
    this.files.push({ path, artifactId, mediaType: part.mediaType ?? null, bytes: content.length });
  }

  /**
   * Returns an unused name, so that parts with equal names become different files. Compares without case, because
   * Windows and macOS do.
   */
  #free(name: string): string {
    const [, base = name, extension = ''] = /^(.+?)(\.[^.]*)?$/.exec(name) ?? [];
    const key = (one: string) => one.normalize('NFC').toLowerCase();
    let free = name;
    for (let number = 2; this.#names.has(key(free)); number++) free = `${base}-${number}${extension}`;
    this.#names.add(key(free));
    return free;
  }
}

/** Creates a file. Fails if a link of that name exists, even a dangling one. */
function createFile(path: string, content: Uint8Array): void {
  try {
    writeFileSync(path, content, { flag: 'wx' });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    throw existsError(path, cause);
  }
}

/** Makes the error for a file that already exists. */
export function existsError(path: string, cause?: unknown): CliError {
  return new CliError('A2ACLI_ERR_INTERNAL', `${path} is there already`, {
    hint: '--force overwrites, --dir names another folder',
    cause,
  });
}

/** Replaces a file or creates it. Never writes through a link, to a device or to a pipe. */
function replaceFile(path: string, content: Uint8Array): void {
  checkPlain(path);
  const draft = `${path}.${randomUUID()}.part`;
  writeFileSync(draft, content, { flag: 'wx' });
  renameSync(draft, path);
}

/** Moves a file to a path, where it may replace a regular file. */
export function replaceBy(draft: string, path: string): void {
  checkPlain(path);
  renameSync(draft, path);
}

function checkPlain(path: string): void {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there !== undefined && !there.isFile())
    throw new CliError(
      'A2ACLI_ERR_INTERNAL',
      `${path} is a ${there.isSymbolicLink() ? 'link' : 'folder or a device'}`,
      {
        hint: '--force overwrites plain files only; --dir names another folder',
      },
    );
}

/**
 * Adds an extension. A name with an extension, such as `main.py`, is unchanged. A number after a dot, as in `v1.2`, is
 * no extension.
 */
function withExtension(name: string, extension: string): string {
  return /\.[a-z][a-z0-9]{0,7}$/i.test(name) ? name : `${name}.${extension}`;
}

/** Device names of Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?= *(?:\.|$))/i;

/** Returns a file name from any name of an agent that is safe on all systems. */
export function safeName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? '';
  const clean = trimEnd(
    last
      .slice(0, 1000)
      .replaceAll(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}<>:"|?*]/gu, '_')
      .replace(/^\.+/, '_')
      .slice(0, 200)
      .replace(DEVICE, '_$&'),
  );
  return clean.trim() === '' ? 'file' : clean;
}

/** Returns a name without trailing dots and spaces, which Windows drops. */
function trimEnd(name: string): string {
  return /[. ]$/.test(name) ? trimEnd(name.slice(0, -1)) : name;
}

/** Saves the files of a command for `--save-fileparts`. */
interface FilePartSaving {
  takeTask(task: Task): void;
  takeEvent(event: StreamResponse): void;
  /** Prints the saved files as text. */
  tell(): void;
}

/** Saves files in the folder of `--save-fileparts`; does nothing without that flag. */
export function savesFileParts({ settings, output }: Invocation): FilePartSaving {
  const folder = settings.text('save-fileparts');
  if (folder === undefined) return { takeTask: () => {}, takeEvent: () => {}, tell: () => {} };
  const saved = new SavedFiles(folder, false);
  const take = (artifact: Artifact) => {
    for (const part of artifact.parts) if (part.raw !== undefined) saved.save(part, artifact);
  };
  return {
    takeTask: (task) => task.artifacts?.forEach(take),
    takeEvent: (event) => {
      if (event.artifactUpdate !== undefined) take(event.artifactUpdate.artifact);
      if (event.task !== undefined) event.task.artifacts?.forEach(take);
    },
    tell: () => tellSaved(output, saved.files),
  };
}

/** Writes one line for each file. */
export function tellSaved(output: Output, files: readonly SavedFile[]): void {
  for (const { path, bytes } of files) output.field(LABELS.saved, `${path}, ${bytes} bytes`);
}

function contentOf(part: Part): Buffer | undefined {
  if (part.raw !== undefined) return Buffer.from(part.raw, 'base64');
  if (part.text !== undefined) return Buffer.from(part.text);
  if (part.data !== undefined) return Buffer.from(`${JSON.stringify(part.data, undefined, 2)}\n`);
  return undefined;
}
