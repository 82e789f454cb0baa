import { randomUUID } from 'node:crypto';
import { assertNoInternals } from '../support/no-internals.js';
import type { Json } from './scenarios.js';

/** A JSON object as it came over the wire. */
export type Body = { readonly [name: string]: Json };

/** An answer that was read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Body;
}

/** One frame of an event stream. */
export interface Frame {
  readonly id: string | undefined;
  readonly data: Body;
}

/** Differences of a raw request. */
export interface WireRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is when it is a text, else as JSON. */
  readonly body?: string | Uint8Array | object;
  /** Without the version header. */
  readonly unversioned?: boolean;
  readonly signal?: AbortSignal;
}

/** One server, spoken to without any SDK. Every error answer is searched for what should have stayed inside. */
export class Wire {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  async send(path: string, request: WireRequest = {}): Promise<Answer> {
    const response = await this.#fetch(path, request);
    const text = await response.text();
    if (response.status >= 400 || text.includes('"error"')) assertNoInternals(text);
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    const { status, headers } = response;
    return { status, headers, text, body: isJson && text !== '' ? (JSON.parse(text) as Body) : {} };
  }

  /** A JSON-RPC call. */
  rpc(path: string, method: string, params?: object, request: WireRequest = {}): Promise<Answer> {
    return this.send(path, { ...request, body: { jsonrpc: '2.0', id: 1, method, ...(params && { params }) } });
  }

  /** The frames of an event stream, until it ends or the caller leaves. */
  async *frames(path: string, request: WireRequest = {}): AsyncGenerator<Frame> {
    const leave = new AbortController();
    const response = await this.#fetch(path, { ...request, signal: leave.signal });
    if (!response.headers.get('content-type')?.startsWith('text/event-stream') || response.body === null) {
      throw new Error(`no event stream: ${response.status} ${await response.text()}`);
    }
    const decoder = new TextDecoder();
    let rest = '';
    try {
      for await (const chunk of response.body) {
        const frames = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
        rest = frames.pop() ?? '';
        for (const frame of frames) if (/^data:/m.test(frame)) yield frameOf(frame);
      }
    } finally {
      leave.abort();
    }
  }

  #fetch(path: string, { method, headers, body, unversioned = false, signal }: WireRequest): Promise<Response> {
    const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
    return fetch(`${this.url}${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(!unversioned && { 'a2a-version': '1.0' }),
        ...headers,
      },
      ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
      redirect: 'error',
    });
  }
}

function frameOf(text: string): Frame {
  const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(text)?.[1];
  const data = field('data') ?? '{}';
  if (data.includes('"error"')) assertNoInternals(data);
  return { id: field('id'), data: JSON.parse(data) as Body };
}

/** A message to send, as the body of an HTTP+JSON request or the params of a JSON-RPC one. */
export function sendParams(text: string, more: object = {}): { readonly message: object } {
  return { message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more } };
}

/** The reason of the error in an answer of either binding. */
export function reasonOf(answer: { readonly body: Body } | Frame): Json {
  const body = 'body' in answer ? answer.body : answer.data;
  const error = body.error as { data?: readonly Body[]; details?: readonly Body[] } | undefined;
  return [...(error?.data ?? []), ...(error?.details ?? [])].find(({ reason }) => reason !== undefined)?.reason;
}

/** All frames of a stream. */
export async function collect(frames: AsyncIterable<Frame>): Promise<Frame[]> {
  const all: Frame[] = [];
  for await (const frame of frames) all.push(frame);
  return all;
}
