import { OptionsError } from '../errors/options-error.js';
import { type IpAddress, isInRange, parseIp, plainAddress } from './ip-address.js';
import { isPublicAddress } from './public-address.js';

/** Destinations of requests whose urls come from others. */
export interface DestinationOptions {
  /**
   * Destinations that may be private, beside all public ones: `hooks.internal`, `*.internal`, `10.1.2.3`,
   * `10.0.0.0/8` or `[fd00::]/8`, each also with a port, such as `hooks.internal:8080` or `10.0.0.0/8:8080`. A name
   * may lead to any address. Default: none.
   */
  readonly allow?: readonly string[];
  /** The only destinations, in the same form. Private ones among them must be in `allow` too. Default: all. */
  readonly only?: readonly string[];
}

/** Host and port of a url. */
export interface Destination {
  /** In lower case, without brackets and without a final dot. */
  readonly host: string;
  readonly port: number;
}

interface Entry {
  readonly port: number | undefined;
  fits(host: string, address: IpAddress | undefined): boolean;
}

/** A name or address, the bits of a range, and a port. IPv6 addresses have brackets before a port. */
const ENTRY = /^(?:\[([\da-f:.]+)\]|([^\s:/@[\]]+)|([\da-f:.]+))(?:\/(\d{1,3}))?(?::(\d{1,5}))?$/;
const NAME = /^(?:\*\.)?[^*?#\\%]{1,253}$/;

/** Unprivileged ports that browsers refuse, too: servers of other protocols accept HTTP there as commands. */
const OTHER_PROTOCOLS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** The rules for destinations of requests. Decides only; the caller opens the connections. */
export class Destinations {
  readonly #allow: readonly Entry[];
  readonly #only: readonly Entry[] | undefined;

  /** @throws OptionsError naming every entry that is no destination. */
  constructor({ allow = [], only }: DestinationOptions) {
    const problems: string[] = [];
    this.#allow = entriesOf(allow, problems);
    this.#only = only && entriesOf(only, problems);
    if (problems.length > 0) throw new OptionsError('Destinations', problems);
  }

  /**
   * The reason for which a url is refused, or undefined. The address of a name is not known here: `allows` checks it
   * when the connection is opened.
   */
  fault(url: URL): string | undefined {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return `${url.protocol} is not called`;
    if (url.username !== '' || url.password !== '') return 'a url with a user or password is not called';
    const { host, port } = destinationOf(url);
    if (host === '') return 'the url has no host';
    if (parseIp(host) !== undefined)
      return this.allows({ host, port }, host) ? undefined : `${host} is no allowed address`;
    if (isListed(this.#allow, { host, port })) return undefined;
    if (host === 'localhost' || host.endsWith('.localhost')) {
      const isAllowed = ['127.0.0.1', '::1'].some((address) => this.allows({ host, port }, address));
      return isAllowed ? undefined : `${host} is this machine`;
    }
    const mayAllow = this.#allow.some((entry) => fitsPort(entry, port));
    return isUsualPort(port) || mayAllow ? undefined : `port ${port} is not called`;
  }

  /** True if a connection for a destination may lead to an address. Call it for every address before connecting. */
  allows({ host, port }: Destination, address: string): boolean {
    const parsed = parseIp(address);
    if (parsed === undefined) return false;
    const at = { host, port, address: plainAddress(parsed) };
    if (this.#only !== undefined && !isListed(this.#only, at)) return false;
    return isListed(this.#allow, at) || (isPublicAddress(parsed) && isUsualPort(port));
  }

  /** True if a name may lead to any address, so that nothing is left to check when the connection is opened. */
  allowsName({ host, port }: Destination): boolean {
    const at = { host, port };
    return isListed(this.#allow, at) && (this.#only === undefined || isListed(this.#only, at));
  }
}

/** The host and port of an http or https url. */
export function destinationOf({ hostname, port, protocol }: URL): Destination {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return { host: host.toLowerCase(), port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) };
}

/** Privileged ports belong to other protocols, except for those of the web. */
function isUsualPort(port: number): boolean {
  return port === 80 || port === 443 || (port >= 1024 && !OTHER_PROTOCOLS.has(port));
}

function isListed(
  entries: readonly Entry[],
  { host, port, address }: Destination & { readonly address?: IpAddress },
): boolean {
  return entries.some((entry) => fitsPort(entry, port) && entry.fits(host, address));
}

function fitsPort(entry: Entry, port: number): boolean {
  return entry.port === undefined || entry.port === port;
}

function entriesOf(texts: readonly string[], problems: string[]): readonly Entry[] {
  return texts.flatMap((text) => {
    const entry = entryOf(text.toLowerCase());
    if (entry === undefined)
      problems.push(`"${text}" must be a host, an address or a range such as 10.0.0.0/8, each also with a port`);
    return entry ?? [];
  });
}

function entryOf(text: string): Entry | undefined {
  const [, bracketed, word = '', bare, bits, portText] = ENTRY.exec(text) ?? [];
  const port = portText === undefined ? undefined : Number(portText);
  if (port !== undefined && (port < 1 || port > 65535)) return undefined;
  const address = parseIp(bracketed ?? bare ?? word);
  if (address !== undefined) {
    const most = address.length * 16;
    const prefix = bits === undefined ? most : Number(bits);
    // Addresses are compared in their plain form, so a range of mapped addresses would match nothing.
    if (prefix > most || plainAddress(address) !== address) return undefined;
    return {
      port,
      fits: (_, given) => given !== undefined && isInRange(given, { address, bits: prefix }),
    };
  }
  const name = bits === undefined && NAME.test(word) ? urlHost(word.replace(/^\*\./, '')) : undefined;
  if (name === undefined) return undefined;
  return word.startsWith('*.')
    ? { port, fits: (host) => host.endsWith(`.${name}`) }
    : { port, fits: (host) => host === name };
}

/** A name in the form that urls have; undefined for a short or numeric spelling of an address. */
function urlHost(name: string): string | undefined {
  const url = URL.parse(`http://${name}`);
  const host = url === null ? '' : destinationOf(url).host;
  return host === '' || parseIp(host) !== undefined ? undefined : host;
}
