/** An IP address as groups of 16 bits: two of IPv4, eight of IPv6. */
export type IpAddress = readonly number[];

/** The addresses that begin with the first `bits` of an address. */
export interface IpRange {
  readonly address: IpAddress;
  readonly bits: number;
}

/** Only the four-part form. `1` or `0x7f000001` is a mistake in options, and a trick in requests. */
const BYTE = /^(?:0|[1-9]\d{0,2})$/;
const GROUP = /^[\da-f]{1,4}$/i;
const ZONE = /%[\w.~-]+$/;
/** Longest spelling of an address, with a zone id of 15 characters. */
const LONGEST = 61;
/** The addresses of IPv4 in IPv6: mapped by a dual-stack socket (RFC 4291 §2.5.5.2). */
const MAPPED: IpRange = { address: [0, 0, 0, 0, 0, 0xffff, 0, 0], bits: 96 };

/** Addresses of IPv4 behind a translator, NAT64 (RFC 6052). 64:ff9b:1::/48 is for local translators (RFC 8215). */
const TRANSLATED: IpRange = { address: [0x64, 0xff9b, 0, 0, 0, 0, 0, 0], bits: 96 };

/** Reads an address of IPv4 in four parts, or of IPv6 with or without a zone id; `undefined` for any other text. */
export function parseIp(text: string): IpAddress | undefined {
  if (text.length > LONGEST) return undefined;
  return ipv4Groups(text) ?? ipv6Groups(text.replace(ZONE, ''));
}

/** Reads an address, or a range such as `10.0.0.0/8`; `undefined` for any other text. An address is a range of one. */
export function parseRange(text: string): IpRange | undefined {
  const slash = text.indexOf('/');
  const address = parseIp(slash < 0 ? text : text.slice(0, slash));
  if (address === undefined) return undefined;
  const most = address.length * 16;
  if (slash < 0) return { address, bits: most };
  const digits = text.slice(slash + 1);
  return /^\d{1,3}$/.test(digits) && Number(digits) <= most ? { address, bits: Number(digits) } : undefined;
}

/** True if an address is in a range of the same version of IP. */
export function isInRange(address: IpAddress, { address: first, bits }: IpRange): boolean {
  if (address.length !== first.length) return false;
  return first.every((group, at) => {
    const compared = Math.min(16, Math.max(0, bits - at * 16));
    return (group ^ (address[at] ?? 0)) >> (16 - compared) === 0;
  });
}

/** The IPv4 address that a mapped address of IPv6 stands for, or the address itself. */
export function unmapAddress(address: IpAddress): IpAddress {
  return isInRange(address, MAPPED) ? address.slice(6) : address;
}

/** The IPv4 address that an IPv6 address stands for, mapped or behind a translator, or the address itself. */
export function plainAddress(address: IpAddress): IpAddress {
  return isInRange(address, TRANSLATED) ? address.slice(6) : unmapAddress(address);
}

/** The canonical spelling of an address (RFC 5952), without a zone id. */
export function ipText(address: IpAddress): string {
  if (address.length === 2) return address.map((group) => `${group >> 8}.${group & 255}`).join('.');
  const { from, length } = longestZeros(address);
  const hex = address.map((group) => group.toString(16));
  return length < 2 ? hex.join(':') : `${hex.slice(0, from).join(':')}::${hex.slice(from + length).join(':')}`;
}

function longestZeros(address: IpAddress): { readonly from: number; readonly length: number } {
  let longest = { from: 0, length: 0 };
  let length = 0;
  for (const [at, group] of address.entries()) {
    length = group === 0 ? length + 1 : 0;
    if (length > longest.length) longest = { from: at - length + 1, length };
  }
  return longest;
}

function ipv4Groups(text: string): IpAddress | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => BYTE.test(part) && Number(part) < 256)) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = parts.map(Number);
  return [(a << 8) | b, (c << 8) | d];
}

function ipv6Groups(text: string): IpAddress | undefined {
  const [before = '', after, more] = text.split('::');
  const head = groupsOf(before, after === undefined);
  const tail = groupsOf(after ?? '', true);
  if (more !== undefined || head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (after === undefined ? missing !== 0 : missing < 1) return undefined;
  return [...head, ...Array.from({ length: missing }, () => 0), ...tail];
}

/** The groups of one side of `::`. The last one may be an address of IPv4. */
function groupsOf(text: string, isLast: boolean): readonly number[] | undefined {
  if (text === '') return [];
  const parts = text.split(':');
  const ipv4 = isLast ? ipv4Groups(parts.at(-1) ?? '') : undefined;
  if (ipv4 !== undefined) parts.pop();
  if (!parts.every((part) => GROUP.test(part))) return undefined;
  return [...parts.map((part) => Number.parseInt(part, 16)), ...(ipv4 ?? [])];
}
