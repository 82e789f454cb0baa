import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { type Block, blocksOf } from '../markdown-blocks.js';
import { type Inline, inlinesOf } from '../markdown-inline.js';
import { shownText } from '../shown-name.js';
import { focusable } from './controls.js';

/** Maximum nesting of quotes and lists. Deeper ones are shown as text. */
const DEEPEST = 6;

/**
 * A text of an agent. It becomes elements of a fixed set, never markup: nothing in it can run or load. Links open in a
 * new tab, and pictures are links.
 */
export function Markdown({ text, depth = 0 }: { readonly text: string; readonly depth?: number }) {
  const blocks = useMemo(
    () => (depth > DEEPEST ? [{ kind: 'paragraph', text } as const] : blocksOf(shownText(text))),
    [text, depth],
  );
  return (
    <div class="markdown" dir="auto">
      {blocks.map((block, at) => (
        <BlockView key={`${at}${block.kind}`} block={block} depth={depth} />
      ))}
    </div>
  );
}

function BlockView({ block, depth }: { readonly block: Block; readonly depth: number }) {
  switch (block.kind) {
    case 'heading':
      return <Heading level={block.level} text={block.text} />;
    case 'paragraph':
      return (
        <p>
          <Line text={block.text} />
        </p>
      );
    case 'code':
      return (
        <section
          class="scroll"
          aria-label={block.language === '' ? 'Code' : `Code in ${block.language.slice(0, 40)}`}
          {...focusable}
        >
          <pre>
            <code>{block.text}</code>
          </pre>
        </section>
      );
    case 'quote':
      return (
        <blockquote>
          <Markdown text={block.text} depth={depth + 1} />
        </blockquote>
      );
    case 'list':
      return <List start={block.start} items={block.items} depth={depth} />;
    case 'table':
      return <Table head={block.head} rows={block.rows} />;
    case 'rule':
      return <hr />;
  }
}

/** Headings of an agent are below those of the page. */
function Heading({ level, text }: { readonly level: number; readonly text: string }) {
  return (
    <p class={`heading heading-${level}`}>
      <Line text={text} />
    </p>
  );
}

interface ListShape {
  readonly start: number | undefined;
  readonly items: readonly string[];
  readonly depth: number;
}

function List({ start, items, depth }: ListShape) {
  const rows = items.map((item, at) => (
    <li key={at}>{item.includes('\n') ? <Markdown text={item} depth={depth + 1} /> : <Line text={item} />}</li>
  ));
  return start === undefined ? <ul>{rows}</ul> : <ol start={start}>{rows}</ol>;
}

function Table({ head, rows }: { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] }) {
  return (
    <section class="table" aria-label="Table" {...focusable}>
      <table>
        <thead>
          <tr>
            {head.map((cell, at) => (
              <th key={at} scope="col">
                <Line text={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, line) => (
            <tr key={line}>
              {row.map((cell, at) => (
                <td key={at}>
                  <Line text={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** A text with inline markup. */
function Line({ text }: { readonly text: string }) {
  const pieces = useMemo(() => inlinesOf(text), [text]);
  return <>{pieces.map(inlineView)}</>;
}

function inlineView(piece: Inline, at: number): ComponentChildren {
  switch (piece.kind) {
    case 'text':
      return piece.text;
    case 'break':
      return <br key={at} />;
    case 'code':
      return <code key={at}>{piece.text}</code>;
    case 'strong':
      return <strong key={at}>{piece.content.map(inlineView)}</strong>;
    case 'emphasis':
      return <em key={at}>{piece.content.map(inlineView)}</em>;
    case 'deleted':
      return <del key={at}>{piece.content.map(inlineView)}</del>;
    case 'link':
      return (
        <OutsideLink key={at} url={piece.url}>
          {piece.content.map(inlineView)}
        </OutsideLink>
      );
    case 'image':
      return piece.url === '' ? (
        `[picture: ${piece.text}]`
      ) : (
        <OutsideLink key={at} url={piece.url}>
          [picture: {piece.text || piece.url}]
        </OutsideLink>
      );
  }
}

/** A link to an untrusted url, without a referrer. */
export function OutsideLink({ url, children }: { readonly url: string; readonly children: ComponentChildren }) {
  return (
    <a href={url} target="_blank" rel="noopener noreferrer" title={url.slice(0, 500)}>
      <bdi>{children}</bdi>
    </a>
  );
}
