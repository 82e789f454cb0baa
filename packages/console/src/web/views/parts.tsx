import { useSignal } from '@preact/signals';
import type { Part, RawPart, TextPart } from 'parley-a2a';
import { useEffect } from 'preact/hooks';
import { fileBytes } from '../attachments.js';
import { followedUrl } from '../markdown-inline.js';
import { isQuestionData } from '../questions.js';
import { bytesText, shownName, shownText } from '../shown-name.js';
import { Json } from './controls.js';
import { Markdown, OutsideLink } from './markdown.js';

/** Types that browsers show without executing anything. SVG is not among them. */
const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'];
const SOUNDS = ['audio/mpeg', 'audio/wav', 'audio/ogg', 'audio/webm', 'audio/mp4', 'audio/aac', 'audio/flac'];
/** The beginning of every PDF, in base64. */
const PDF_BEGINS = 'JVBERi0';

/** Longer texts are truncated, and saved as a whole: a browser needs seconds to lay out megabytes. */
const MOST_TEXT = 100_000;
/** Maximum number of parts on a page. The record has all. */
const MOST_PARTS = 200;

/** The parts of a message or an artifact. */
export function Parts({ parts }: { readonly parts: readonly Part[] }) {
  return (
    <>
      {parts.length > MOST_PARTS && <p class="facts">The latest {MOST_PARTS} of many parts. The record has all.</p>}
      {parts.slice(-MOST_PARTS).map((part, at) => (
        <PartView key={at} part={part} />
      ))}
    </>
  );
}

function PartView({ part }: { readonly part: Part }) {
  if (part.text !== undefined) {
    if (part.text.length > MOST_TEXT) return <LongText part={part} />;
    const isPlain = part.mediaType !== undefined && !/^text\/(?:plain|markdown)\b/.test(part.mediaType);
    return isPlain ? <pre class="text">{shownText(part.text)}</pre> : <Markdown text={part.text} />;
  }
  if (isQuestionData(part)) return null;
  if (part.data !== undefined) return <FoldedData value={part.data} />;
  return part.raw !== undefined ? (
    <FileView part={part} />
  ) : (
    <LinkedFile url={part.url} name={part.filename} type={part.mediaType} />
  );
}

function LongText({ part }: { readonly part: TextPart }) {
  const { text, mediaType, filename = 'text.txt' } = part;
  const shown = text.slice(0, MOST_TEXT);
  return (
    <>
      <PartView part={{ text: shown, ...(mediaType !== undefined && { mediaType }) }} />
      <p class="actions">
        <span class="hint">
          The first {MOST_TEXT.toLocaleString('en')} of {text.length.toLocaleString('en')} characters.
        </span>
        <button type="button" onClick={() => save(new Blob([text], { type: 'application/octet-stream' }), filename)}>
          Download the whole text
        </button>
      </p>
    </>
  );
}

function FoldedData({ value }: { readonly value: unknown }) {
  const isOpen = useSignal(false);
  return (
    <details
      class="fold"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>Data</summary>
      {isOpen.value && <Json value={value} label="Data" />}
    </details>
  );
}

/** A file within the task. Its bytes become a file of the browser only when the user asks for it. */
function FileView({ part }: { readonly part: RawPart }) {
  const shown = useSignal<string | undefined>(undefined);
  const isBroken = useSignal(false);
  const { mediaType = 'application/octet-stream', filename = 'file' } = part;
  const type = mediaType.split(';')[0]?.trim().toLowerCase() ?? '';
  const kind = kindOf(type, part);
  const name = shownName(filename, 80);
  useEffect(() => () => URL.revokeObjectURL(shown.peek() ?? ''), [shown]);
  const fail = (): void => {
    isBroken.value = true;
  };
  const show = (): void => {
    shown.value ??= URL.createObjectURL(blobOf(part, type));
    if (kind === 'document') follow({ href: shown.value, target: '_blank', rel: 'noopener noreferrer' });
  };
  return (
    <figure class="file">
      <figcaption>
        <bdi class="file-name">{name}</bdi>
        <span class="file-facts">
          {shownName(mediaType, 60)}, {bytesText(fileBytes(part))}
        </span>
        {kind !== undefined && (kind === 'document' || shown.value === undefined) && (
          <button type="button" onClick={show}>
            {kind === 'document' ? 'Open in a new tab' : 'Show'}
          </button>
        )}
        <button type="button" onClick={() => download(part, filename)}>
          Download
        </button>
      </figcaption>
      {isBroken.value ? (
        <p class="hint">The browser cannot show this file: its type or its content is wrong.</p>
      ) : (
        shown.value !== undefined && <Medium kind={kind} url={shown.value} name={name} onError={fail} />
      )}
    </figure>
  );
}

interface MediumShape {
  readonly kind: Kind | undefined;
  readonly url: string;
  readonly name: string;
  readonly onError: () => void;
}

function Medium({ kind, url, name, onError }: MediumShape) {
  if (kind === 'picture') return <img src={url} alt={name} onError={onError} />;
  // biome-ignore lint/a11y/useMediaCaption: an agent sends sounds without captions.
  return kind === 'sound' ? <audio src={url} controls aria-label={name} onError={onError} /> : null;
}

type Kind = 'picture' | 'sound' | 'document';

/**
 * The kind of a file that browsers can show. A PDF may have scripts and links. It opens in its own tab, where they can
 * reach neither the page nor other pages of this origin.
 */
function kindOf(type: string, { raw }: RawPart): Kind | undefined {
  if (PICTURES.includes(type)) return 'picture';
  if (SOUNDS.includes(type)) return 'sound';
  const isPdf = type === 'application/pdf' && raw.startsWith(PDF_BEGINS);
  return isPdf && navigator.pdfViewerEnabled ? 'document' : undefined;
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

function download(part: RawPart, filename: string): void {
  save(blobOf(part, 'application/octet-stream'), filename);
}

/** Saves a file. The browser never opens it, whatever its type is. */
function save(blob: Blob, filename: string): void {
  const href = URL.createObjectURL(blob);
  follow({ href, download: shownName(filename, 120).replaceAll(/[/\\]/g, '_') });
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

function follow(link: Partial<HTMLAnchorElement>): void {
  Object.assign(document.createElement('a'), link).click();
}
