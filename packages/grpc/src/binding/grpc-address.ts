import { destinationOf } from 'parley-a2a/binding-kit';

/** A parsed gRPC address. */
export interface GrpcAddress {
  /** In lower case; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** True for https, false for http; undefined for an address without a scheme. */
  readonly isSecure: boolean | undefined;
}

/**
 * Other forms are refused, such as `unix:` and names with their own DNS server: a card could name any place with them.
 */
const FORM = /^(?:(https?):\/\/|dns:(?:\/\/\/)?)?((?:\[[\da-f:.]+\]|[^\s\\/:?#@%[\]]+)(?::\d{1,5})?)\/?$/i;

/**
 * Reads an address of gRPC: `host:port`, `dns:host:port`, or a url of http or https without a path. The port may be
 * missing: it is then 443, or 80 for http. Undefined for other texts.
 */
export function grpcAddress(text: string): GrpcAddress | undefined {
  const [, scheme, place] = FORM.exec(text) ?? [];
  const isPlain = scheme?.toLowerCase() === 'http';
  const url = place === undefined ? null : URL.parse(`${isPlain ? 'http' : 'https'}://${place}`);
  if (url === null || url.port === '0') return undefined;
  return { ...destinationOf(url), isSecure: scheme === undefined ? undefined : !isPlain };
}

/** The host of an address and a port, with brackets around IPv6. */
export function hostAndPort({ host, port }: Pick<GrpcAddress, 'host' | 'port'>): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
