import { describe, expect, it } from 'vitest';
import { essence, names, preferredMediaType } from './media-type.js';

describe('a content type', () => {
  it.each([
    ['application/json', 'application/json'],
    [' Application/JSON ; charset=utf-8', 'application/json'],
    [undefined, ''],
    ['', ''],
    [';', ''],
  ])('%s is essentially "%s"', (type, expected) => {
    expect(essence(type)).toBe(expected);
  });
});

describe('an Accept header', () => {
  it.each([
    ['text/event-stream', true],
    ['application/json, text/event-stream', true],
    ['TEXT/Event-Stream;q=0.1', true],
    ['text/event-stream;q=0', false],
    ['text/event-stream; q=0.000', false],
    ['text/*', false],
    ['*/*', false],
    ['', false],
    [undefined, false],
  ])('%s names the stream: %s', (accept, expected) => {
    expect(names(accept, 'text/event-stream')).toBe(expected);
  });
});

describe('what is preferred of JSON, HTML and plain text', () => {
  const OFFERED = ['application/json', 'text/html', 'text/plain'] as const;

  it.each<[string | undefined, string | undefined]>([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['text/*', 'text/html'],
    ['text/plain', 'text/plain'],
    ['Text/Plain;version=0.0.4;q=0.5,*/*;q=0.1', 'text/plain'],
    ['text/plain;q=0.5, application/json;q=0.4', 'text/plain'],
    ['text/plain;q=0.5, application/json;q=0.5', 'application/json'],
    ['text/html;q=0, text/*', 'text/plain'],
    ['application/*;q=0.2, text/plain;q=0.1', 'application/json'],
    ['image/png', undefined],
    ['application/json;q=0', undefined],
  ])('by %s: %s', (accept, expected) => {
    expect(preferredMediaType(accept, OFFERED)).toBe(expected);
  });
});
