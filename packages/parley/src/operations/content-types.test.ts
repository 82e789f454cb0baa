import { describe, expect, it } from 'vitest';
import { ContentTypeNotSupportedError } from '../errors/spec-errors.js';
import type { Part } from '../model/part.js';
import { requireContentTypes } from './content-types.js';

const sendParams = (parts: readonly Part[], acceptedOutputModes?: readonly string[]) => ({
  message: { messageId: 'm', role: 'ROLE_USER' as const, parts },
  ...(acceptedOutputModes && { configuration: { acceptedOutputModes } }),
});

describe('the media types of parts', () => {
  it.each<[Part, readonly string[]]>([
    [{ text: 'x' }, ['text/plain']],
    [{ text: 'x' }, ['TEXT/Plain; charset=utf-8']],
    [{ text: 'x' }, ['text/*']],
    [{ text: 'x' }, ['image/png', '*/*']],
    [{ text: '# x', mediaType: 'text/markdown' }, ['text/markdown']],
    [{ data: 1 }, ['application/json']],
    [{ raw: '', mediaType: 'image/png' }, ['image/*']],
    [{ url: 'https://x.example', mediaType: 'image/png; q=1' }, ['image/png']],
    [{ raw: '' }, ['text/plain']],
  ])('%j are taken by an agent for %j', (part, input) => {
    expect(() => requireContentTypes(sendParams([part]), { input })).not.toThrow();
    expect(() => requireContentTypes(sendParams([part]), {})).not.toThrow();
  });

  it.each<[Part, readonly string[], string]>([
    [{ text: 'x' }, ['application/json'], 'text/plain'],
    [{ data: {} }, ['text/plain'], 'application/json'],
    [{ text: '# x', mediaType: 'text/markdown' }, ['text/plain'], 'text/markdown'],
    [{ raw: '', mediaType: 'image/png' }, ['image/jpeg', 'text/*'], 'image/png'],
  ])('%j are refused by an agent for %j, and named', (part, input, mediaType) => {
    const requireTypes = () =>
      requireContentTypes(sendParams([{ text: 'x', mediaType: input[0] ?? '' }, part]), { input });
    expect(requireTypes).toThrow(ContentTypeNotSupportedError);
    expect(requireTypes).toThrow(`message.parts[1] is ${mediaType}, and the agent takes ${input.join(', ')}`);
  });
});

describe('accepted output modes', () => {
  const output = ['text/plain', 'application/json'];

  it.each([[[]], [['text/plain']], [['image/png', 'application/json']], [['text/*']], [['*/*']], [['text']], [['']]])(
    '%j overlap with what the agent gives',
    (accepted) => {
      expect(() => requireContentTypes(sendParams([{ text: 'x' }], accepted), { output })).not.toThrow();
    },
  );

  it('without any overlap are refused, and named', () => {
    const request = sendParams([{ text: 'x' }], ['image/png', 'audio/*']);
    expect(() => requireContentTypes(request, { output })).toThrow(
      'the caller accepts image/png, audio/*, and the agent gives text/plain, application/json',
    );
    expect(() => requireContentTypes(request, {})).not.toThrow();
  });
});
