import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A span as the receiver has got it. Times are in ms since the epoch. */
export interface ReceivedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string | undefined;
  readonly name: string;
  readonly kind: 'INTERNAL' | 'SERVER' | 'CLIENT' | 'PRODUCER' | 'CONSUMER';
  readonly start: number;
  readonly end: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly spanId: string; readonly kind: unknown }[];
  readonly isError: boolean;
  /** The whole span as JSON. */
  readonly text: string;
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly OtlpAttribute[];
  readonly links?: readonly { readonly spanId: string; readonly attributes?: readonly OtlpAttribute[] }[];
  readonly status?: { readonly code?: number };
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface OtlpRequest {
  readonly resourceSpans?: readonly {
    readonly resource?: { readonly attributes?: readonly OtlpAttribute[] };
    readonly scopeSpans?: readonly { readonly spans?: readonly OtlpSpan[] }[];
  }[];
}

const KINDS = ['INTERNAL', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'] as const;
const ERROR = 2;

/** Takes spans over OTLP/HTTP, as a collector does. */
export class OtlpReceiver implements AsyncDisposable {
  readonly spans: ReceivedSpan[] = [];
  /** The requests as text, with the facts about their processes. */
  readonly bodies: string[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(async (request, response) => {
      const body = await text(request);
      this.bodies.push(body);
      const { resourceSpans = [] } = JSON.parse(body) as OtlpRequest;
      for (const { resource, scopeSpans = [] } of resourceSpans) {
        const service = String(factsOf(resource?.attributes)['service.name']);
        for (const { spans = [] } of scopeSpans) this.spans.push(...spans.map((span) => readSpan(span, service)));
      }
      response.setHeader('content-type', 'application/json').end('{}');
    });
  }

  static async start(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1/traces`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function readSpan(span: OtlpSpan, service: string): ReceivedSpan {
  const { traceId, spanId, parentSpanId, name, kind, links = [], attributes, status } = span;
  return {
    ...{ service, traceId, spanId, name },
    parent: parentSpanId === undefined || parentSpanId === '' ? undefined : parentSpanId,
    kind: KINDS[kind] ?? 'INTERNAL',
    start: Number(span.startTimeUnixNano) / 1e6,
    end: Number(span.endTimeUnixNano) / 1e6,
    attributes: factsOf(attributes),
    links: links.map((link) => ({ spanId: link.spanId, kind: factsOf(link.attributes)['parley.link'] })),
    isError: status?.code === ERROR,
    text: JSON.stringify(span),
  };
}

function factsOf(attributes: readonly OtlpAttribute[] = []): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
