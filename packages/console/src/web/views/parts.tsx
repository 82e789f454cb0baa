import { useSignal } from '@preact/signals';
import type { Part, RawPart } from 'parley-a2a';
import { useEffect } from 'preact/hooks';
import { followedUrl } from '../markdown-inline.js';
import { isQuestionData } from '../questions.js';
import { bytesText, shownName, shownText } from '../shown-name.js';
import { Json } from './controls.js';
import { Markdown, OutsideLink } from './markdown.js';

/** Types that browsers show without running anything. SVG is not among them. */
const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'];
const SOUNDS = ['audio/mpeg', 'audio/wav', 'audio/ogg', 'audio/webm', 'audio/mp4', 'audio/aac', 'audio/flac'];

/** The parts of a message or an artifact. */
export function Parts({ parts }: { readonly parts: readonly Part[] }) {
  return (
    <>
      {parts.map((part, at) => (
        <PartView key={at} part={part} />
      ))}
    </>
  );
}

function PartView({ part }: { readonly part: Part }) {
  if ('text' in part) {
    const isPlain = part.mediaType !== undefined && !/^text\/(?:plain|markdown)\b/.test(part.mediaType);
    return isPlain ? <pre class="text">{shownText(part.text)}</pre> : <Markdown text={part.text} />;
  }
  if (isQuestionData(part)) return null;
  if ('data' in part) return <FoldedData value={part.data} />;
  return 'raw' in part ? (
    <FileView part={part} />
  ) : (
    <LinkedFile url={part.url} name={part.filename} type={part.mediaType} />
  );
}

function FoldedData({ value }: { readonly value: unknown }) {
  return (
    <details class="fold">
      <summary>Data</summary>
      <Json value={value} label="Data" />
    </details>
  );
}

/** A file within the task. Its bytes become a file of the browser only when the user asks for it. */
function FileView({ part }: { readonly part: RawPart }) {
  const shown = useSignal<string | undefined>(undefined);
  const { mediaType = 'application/octet-stream', filename = 'file' } = part;
  const type = mediaType.split(';')[0]?.trim().toLowerCase() ?? '';
  const kind = PICTURES.includes(type) ? 'picture' : SOUNDS.includes(type) ? 'sound' : undefined;
  const name = shownName(filename, 80);
  useEffect(() => () => URL.revokeObjectURL(shown.peek() ?? ''), [shown]);
  const show = (): void => {
    shown.value = URL.createObjectURL(blobOf(part, type));
  };
  return (
    <figure class="file">
      <figcaption>
        <bdi class="file-name">{name}</bdi>
        <span class="file-facts">
          {shownName(mediaType, 60)}, {bytesText(Math.floor((part.raw.length * 3) / 4))}
        </span>
        {kind !== undefined && shown.value === undefined && (
          <button type="button" onClick={show}>
            Show
          </button>
        )}
        <button type="button" onClick={() => download(part, filename)}>
          Download
        </button>
      </figcaption>
      {shown.value !== undefined && kind === 'picture' && <img src={shown.value} alt={name} />}
      {/* biome-ignore lint/a11y/useMediaCaption: an agent sends sounds without captions. */}
      {shown.value !== undefined && kind === 'sound' && <audio src={shown.value} controls aria-label={name} />}
    </figure>
  );
}

function LinkedFile({
  url,
  name,
  type,
}: {
  readonly url: string;
  readonly name?: string | undefined;
  readonly type?: string | undefined;
}) {
  const followed = followedUrl(url);
  return (
    <figure class="file">
      <figcaption>
        <bdi class="file-name">{shownName(name ?? 'File elsewhere', 80)}</bdi>
        <span class="file-facts">{shownName([type, url].filter(Boolean).join(', '), 200)}</span>
        {followed !== undefined && <OutsideLink url={followed}>Open in a new tab</OutsideLink>}
      </figcaption>
    </figure>
  );
}

function blobOf({ raw }: RawPart, type: string): Blob {
  const text = atob(raw.replaceAll('-', '+').replaceAll('_', '/'));
  return new Blob([Uint8Array.from(text, (character) => character.charCodeAt(0))], { type });
}

/** Saves a file. The browser never opens it, whatever its type says. */
function download(part: RawPart, filename: string): void {
  const url = URL.createObjectURL(blobOf(part, 'application/octet-stream'));
  const link = document.createElement('a');
  link.href = url;
  link.download = shownName(filename, 120).replaceAll(/[/\\]/g, '_');
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
