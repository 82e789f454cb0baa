import type { ClientCodec } from '../../packages/parley/src/codec/client-codec.js';
import { clientV1_0 } from '../../packages/parley/src/codec/v1_0/client-codec.js';
import type { Route } from '../../packages/parley/src/codec/wire-codec.js';
import type { OperationName } from '../../packages/parley/src/operations/operations.js';

/** Path of the attacked agent: JSON-RPC on it, HTTP+JSON below it. */
export const BASE = '/agent';

/** Both bindings over HTTP. */
export const BINDINGS = ['JSON-RPC', 'HTTP+JSON'] as const;
export type Binding = (typeof BINDINGS)[number];

type Members = Readonly<Record<string, unknown>>;

/** A request as bytes. Its length is correct unless the headers set it. A header of `undefined` is left out. */
export function requestBytes(
  method: string,
  target: string,
  body: string | Uint8Array | undefined,
  headers: Readonly<Record<string, string | undefined>> = {},
): Buffer {
  const content = Buffer.from(body ?? '');
  const all: Record<string, string | undefined> = {
    host: '127.0.0.1',
    'a2a-version': '1.0',
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': String(content.length) }),
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}\r\n`]));
  return Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'), content]);
}

/** A JSON-RPC call. */
export function rpcBytes(
  method: string,
  params: unknown,
  headers: Readonly<Record<string, string | undefined>> = {},
): Buffer {
  return requestBytes('POST', BASE, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), headers);
}

/** An HTTP+JSON call; `path` is below the agent's. */
export function httpJsonBytes(
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string | undefined>> = {},
): Buffer {
  return requestBytes(method, BASE + path, body === undefined ? undefined : JSON.stringify(body), headers);
}

/** The names of operations in a version. The request has the form of that version already. */
type Names = Pick<ClientCodec, 'version' | 'methodOf' | 'routesOf'>;

/** The request of an operation over one binding; over HTTP+JSON the members go where the route wants them. */
export function callBytes(
  operation: OperationName,
  binding: Binding,
  request: Members,
  { version, methodOf, routesOf }: Names = clientV1_0,
): Buffer {
  const headers = { 'a2a-version': version };
  if (binding === 'JSON-RPC') return rpcBytes(methodOf(operation) ?? operation, request, headers);
  const { method, target, body } = buildRequest(routeOf(operation, routesOf), request);
  return requestBytes(method, target, body, headers);
}

/** The members of a request that an operation's route takes from its path. */
export function pathMembers(operation: OperationName): readonly string[] {
  return routeOf(operation).path.flatMap((segment) => /^\{(\w+)\}/.exec(segment)?.[1] ?? []);
}

/** True if the route of an operation takes members from a body. */
export function hasBody(operation: OperationName): boolean {
  return routeOf(operation).body !== 'none';
}

function routeOf(operation: OperationName, routesOf = clientV1_0.routesOf): Route {
  const [route] = routesOf(operation);
  if (route === undefined) throw new Error(`no route for ${operation}`);
  return route;
}

function buildRequest(
  { method, path, body }: Route,
  request: Members,
): { method: string; target: string; body: string | undefined } {
  const rest: Record<string, unknown> = { ...request };
  const segments = path.map((segment) =>
    segment.replace(/^\{(\w+)\}/, (_, name: string) => {
      const value = rest[name];
      delete rest[name];
      return encodeURIComponent(textOf(value).toWellFormed());
    }),
  );
  const target = [BASE, ...segments].join('/');
  if (body !== 'none') return { method, target, body: JSON.stringify(rest) };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(rest)) {
    for (const item of Array.isArray(value) ? value : [value]) query.append(name, textOf(item));
  }
  return { method, target: query.size === 0 ? target : `${target}?${query}`, body: undefined };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
