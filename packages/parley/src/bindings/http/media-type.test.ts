import { describe, expect, it } from 'vitest';
import { essence, names } from './media-type.js';

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
