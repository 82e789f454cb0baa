import { describe, expect, it } from 'vitest';
import { decideMediaType, type MediaTypeRules, servedType } from './media-type-rules.js';
import { isActiveType, sniffedType } from './sniffed-type.js';

const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const utf16 = (text: string, isLittle: boolean) => {
  const encoded = Buffer.from(`\ufeff${text}`, 'utf16le');
  return new Uint8Array(isLittle ? encoded : encoded.swap16());
};
const PNG = '\x89PNG\r\n\x1a\n';
const decide = (declared: string | undefined, text: string | Uint8Array, rules: MediaTypeRules = {}) => {
  const decision = decideMediaType(declared, typeof text === 'string' ? bytes(text) : text, rules);
  return decision.kind === 'kept' ? decision.mediaType : decision.kind;
};

describe('the first bytes show', () => {
  it.each([
    ['a page', '<!DOCTYPE html><p>', 'text/html'],
    ['a page in capitals behind white space', ' \n\t<HTML>', 'text/html'],
    ['a page behind comments', '<!-- a --> <!-- b --><script>1', 'text/html'],
    ['a page behind a mark of UTF-8', '\xef\xbb\xbf<html>', 'text/html'],
    ['a page behind zeros', '\0\0<body>', 'text/html'],
    ['a comment that hides the rest', `<!--${'x'.repeat(600)}`, 'text/html'],
    ['an SVG', '<svg onload="alert(1)">', 'image/svg+xml'],
    ['an SVG with a prolog and a type', '<?xml version="1.0"?><!DOCTYPE svg><svg>', 'image/svg+xml'],
    ['an SVG behind a type', '<!doctype SVG><x>', 'image/svg+xml'],
    ['a page in XML', '<?xml version="1.0"?><html xmlns="x">', 'application/xhtml+xml'],
    ['XML', '<?xml version="1.0"?><a/>', 'text/xml'],
    ['a script', '#!/bin/sh', 'text/x-script'],
    ['a picture that is a page as well', `GIF89a<html><script>1</script>`, 'image/gif'],
    ['a sound in a container', 'RIFF\x01\x02\x03\x04WAVEfmt ', 'audio/wav'],
    ['a picture in the same container', 'RIFF\x01\x02\x03\x04WEBPVP8 ', 'image/webp'],
    ['nothing', '', undefined],
    ['half a signature', '\x89PN', undefined],
    ['half a container', 'RIFF\x01\x02', undefined],
    ['half a tag', '<htm', undefined],
    ['text', 'hello <html>', undefined],
    ['a word that begins like a tag', '<project>', undefined],
  ])('%s', (_, text, type) => {
    expect(sniffedType(bytes(text))).toBe(type);
  });

  it.each([true, false])('a page in UTF-16 with its mark (little end first: %s)', (isLittle) => {
    expect(sniffedType(utf16('<html><script>1', isLittle))).toBe('text/html');
  });

  it('the same, whatever comes after the bytes that count', () => {
    const head = new Uint8Array(100_000).fill(32);
    head.set(bytes('<html>'), 90_000);
    expect(sniffedType(head)).toBeUndefined();
  });
});

describe('a file', () => {
  it.each([
    ['without a type has that of its bytes', undefined, PNG, 'image/png'],
    ['without a type and a form is bytes', undefined, 'hello', 'application/octet-stream'],
    ['of bytes stays bytes', 'application/octet-stream', '<html>', 'application/octet-stream'],
    ['of the declared type is kept', 'image/png', PNG, 'image/png'],
    ['of a type within another is kept', 'application/epub+zip', 'PK\x03\x04', 'application/epub+zip'],
    ['of a type that shows nothing is kept', 'application/x-thing', 'hello', 'application/x-thing'],
    ['that is a page is refused as a picture', 'image/png', '<html>', 'refused'],
    ['that is a page is refused as a picture without a known form', 'image/x-thing', '<html>', 'refused'],
    ['that is a page is refused as a font', 'font/woff2', '<html>', 'refused'],
    ['that is another picture is refused', 'image/jpeg', PNG, 'refused'],
    ['that is empty is refused as a picture', 'image/png', '', 'refused'],
    ['that is empty is kept as a text', 'text/plain', '', 'text/plain'],
    ['that is a text is refused as a program', 'application/wasm', 'hello', 'refused'],
    [
      'that is a drawing behind a long comment is kept',
      'image/svg+xml',
      `<?xml?><!--${'x'.repeat(600)}`,
      'image/svg+xml',
    ],
  ])('%s', (_, declared, text, outcome) => {
    expect(decide(declared, text)).toBe(outcome);
  });

  it('that does not fit is kept as bytes if the server says so', () => {
    expect(decide('image/png', '<html>', { mismatch: 'octet-stream' })).toBe('application/octet-stream');
  });

  it('passes no rule by a type that says less than its bytes', () => {
    const rules = { deny: ['text/html', 'application/x-executable', 'application/zip'] };
    expect(decide('text/plain', '<html>', rules)).toBe('refused');
    expect(decide('application/octet-stream', '<html>', rules)).toBe('refused');
    expect(decide('application/x-thing', '\x7fELF', rules)).toBe('refused');
    expect(decide(undefined, 'PK\x03\x04', rules)).toBe('refused');
    expect(decide('application/epub+zip', 'PK\x03\x04', rules)).toBe('application/epub+zip');
    expect(decide('text/plain', 'hello', rules)).toBe('text/plain');
  });

  it('is taken by patterns, and refused by them first', () => {
    const rules = { allow: ['image/*', 'text/plain'], deny: ['image/gif'] };
    expect(decide('image/png', PNG, rules)).toBe('image/png');
    expect(decide('image/gif', 'GIF89a', rules)).toBe('refused');
    expect(decide('application/pdf', '%PDF-', rules)).toBe('refused');
    expect(decide('text/plainer', 'hello', rules)).toBe('refused');
  });
});

it('no type that a browser could run is served', () => {
  const active = [
    'text/html',
    'image/svg+xml',
    'application/xhtml+xml',
    'text/xml',
    'application/xml',
    'application/rss+xml',
    'text/javascript',
    'application/x-javascript',
    'text/ecmascript',
    'application/wasm',
    'multipart/x-mixed-replace',
    'application/x-shockwave-flash',
  ];
  for (const type of active) {
    expect(isActiveType(type)).toBe(true);
    expect(servedType(type)).toBe('application/octet-stream');
  }
  for (const type of ['text/plain', 'image/png', 'application/pdf', 'application/json'])
    expect(servedType(type)).toBe(type);
});
