import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4Warning,
} from '@ai-sdk/provider';
import type { Part } from 'parley-a2a';
import type { OutgoingMessage } from 'parley-a2a/client';
import { isInterrupted, isObject, TASK_STATES, toBase64 } from 'parley-a2a/kit';

/** The context of a message, and the task that it continues. */
interface Place {
  readonly contextId?: string;
  readonly taskId?: string;
}

/**
 * Makes the message to an agent from a prompt. Within a context, the agent has the history, so only the messages after
 * its last answer are sent. In a new context, instructions and earlier messages come first, as text.
 * @throws Error for a prompt without a message of the user, and for a file that only one provider has.
 */
export function promptMessage({
  prompt,
  providerOptions,
}: Pick<LanguageModelV4CallOptions, 'prompt' | 'providerOptions'>): { readonly message: OutgoingMessage } {
  const place = placeIn(providerOptions?.a2a) ?? lastPlace(prompt) ?? {};
  const answered = prompt.findLastIndex(({ role }) => role === 'assistant');
  const isKnown = place.contextId !== undefined || place.taskId !== undefined;
  const earlier = isKnown ? [] : prompt.slice(0, answered + 1).filter(({ role }) => role !== 'system');
  const instructions = isKnown ? [] : prompt.flatMap((one) => (one.role === 'system' ? [{ text: one.content }] : []));
  const asked = prompt.slice(answered + 1).flatMap(userParts);
  if (asked.length === 0) throw new Error('The prompt has no message of the user for the agent');
  const transcript = earlier.length === 0 ? [] : [{ text: `Earlier messages:\n${earlier.map(lineOf).join('\n')}` }];
  return { message: { parts: [...instructions, ...transcript, ...asked], ...place } };
}

/** Warnings for settings of a call that an agent cannot apply. */
export function unsupportedSettings(options: LanguageModelV4CallOptions): SharedV4Warning[] {
  const { tools = [], responseFormat } = options;
  const settings = {
    maxOutputTokens: options.maxOutputTokens,
    temperature: options.temperature,
    stopSequences: options.stopSequences,
    topP: options.topP,
    topK: options.topK,
    presencePenalty: options.presencePenalty,
    frequencyPenalty: options.frequencyPenalty,
    seed: options.seed,
    tools: tools.length > 0 ? tools : undefined,
    responseFormat: responseFormat?.type === 'json' ? responseFormat : undefined,
  };
  return Object.entries(settings)
    .filter(([, value]) => value !== undefined)
    .map(([feature]) => ({ type: 'unsupported', feature, details: 'An agent decides on this itself.' }));
}

/** The place of the last answer in the prompt. A task that has ended accepts no message. */
function lastPlace(prompt: LanguageModelV4Prompt): Place | undefined {
  for (const { role, content } of prompt.toReversed()) {
    if (role !== 'assistant') continue;
    for (const { providerOptions } of content.toReversed()) {
      const place = placeIn(providerOptions?.a2a);
      if (place !== undefined) return place;
    }
  }
  return undefined;
}

function placeIn(value: unknown): Place | undefined {
  if (!isObject(value)) return undefined;
  const { contextId, taskId, state } = value;
  const known = TASK_STATES.find((one) => one === state);
  const isOpen = known === undefined || isInterrupted(known);
  const place = {
    ...(typeof contextId === 'string' && contextId !== '' && { contextId }),
    ...(typeof taskId === 'string' && taskId !== '' && isOpen && { taskId }),
  };
  return Object.keys(place).length === 0 ? undefined : place;
}

function userParts(message: LanguageModelV4Message): Part[] {
  if (message.role !== 'user') return [];
  return message.content.flatMap((part) => {
    if (part.type === 'file') return [filePart(part)];
    return part.text === '' ? [] : [{ text: part.text }];
  });
}

function filePart({ data, mediaType, filename }: LanguageModelV4FilePart): Part {
  const about = { mediaType, ...(filename !== undefined && { filename }) };
  switch (data.type) {
    case 'data':
      return { raw: typeof data.data === 'string' ? data.data : toBase64(data.data), ...about };
    case 'url':
      return { url: data.originalUrl ?? data.url.href, ...about };
    case 'text':
      return { text: data.text, ...about };
    case 'reference':
      throw new Error('A file that only one provider has cannot be sent to an agent. Give its bytes or a url');
  }
}

function lineOf(message: LanguageModelV4Message): string {
  if (message.role === 'system') return message.content;
  const texts = message.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return `${message.role}: ${texts.join('\n')}`;
}
