import type { FileScope } from 'parley-a2a/files';
import { type FileOwner, sha256Hex } from 'parley-a2a/kit';

/**
 * Maximum length in bytes of a name in a key. A longer name is replaced by its hash, because a key has at most 1024
 * bytes.
 */
const LONGEST_NAME = 96;

/** The two objects of a file: its bytes, and the facts that make it visible and name the key of the bytes. */
export const DATA = 'data/';
export const FACTS = 'facts/';
/** Records of uploads in several requests, and their bytes after the last whole part. */
export const UPLOADS = 'uploads/';
export const RESTS = 'rests/';

/** The facts of a file or of an upload that are in a key. */
export interface KeyFacts {
  /** Without the prefix of the store. */
  readonly key: string;
  /** The folder of the scope with the id. */
  readonly place: string;
  readonly expiresAt: number;
  /** In bytes. */
  readonly size: number;
  /** Identifies the attempt that stored the bytes. */
  readonly token: string;
  /** The key of the bytes. */
  readonly data: string;
}

/** The folder of an owner, with a slash at its end. No two owners have the same. */
export async function ownerFolder({ agent, owner }: FileOwner): Promise<string> {
  return `${await agentFolder(agent)}${await ownerName(owner)}/`;
}

/** The folder of an agent, with a slash at its end. */
export async function agentFolder(agent: string): Promise<string> {
  return `a${await nameOf(agent)}/`;
}

/** The name of the folder of an owner in that of an agent. */
export async function ownerName(owner: string | null): Promise<string> {
  return owner === null ? 'anonymous' : `o${await nameOf(owner)}`;
}

/** The name of the folder of a tenant in that of an owner. */
export async function tenantName(tenant: string): Promise<string> {
  return `t${await nameOf(tenant)}`;
}

/** Decodes the name of a folder, without its first letter. Of a long name only the hash is known. */
export function readName(name: string): string {
  if (!name.startsWith('b')) return `sha256:${name.slice(1)}`;
  const base64 = name.slice(1).replaceAll('-', '+').replaceAll('_', '/');
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0)));
}

/** The folder of a scope in that of its owner, with a slash at its end. No two scopes have the same. */
async function scopeFolder(scope: FileScope): Promise<string> {
  return `${await ownerFolder(scope)}${await tenantName(scope.tenant)}/`;
}

/** The place of a file: the folder of its scope with its id. It has no dot. */
export async function placeOf(scope: FileScope, id: string): Promise<string> {
  return `${await scopeFolder(scope)}${id}`;
}

/** The place in the key of bytes or a rest. */
export function placeIn(kind: typeof DATA | typeof RESTS, key: string): string {
  const [place = ''] = key.slice(kind.length).split('.', 1);
  return place;
}

/** Makes facts with their key. The key contains all that lists need, so that they read no object. */
export function keyFacts(
  kind: typeof FACTS | typeof UPLOADS,
  { place, expiresAt, size, token }: Omit<KeyFacts, 'key' | 'data'>,
): KeyFacts {
  const key = `${kind}${place}.${expiresAt}.${size}.${token}`;
  return { key, place, expiresAt, size, token, data: `${DATA}${place}.${token}` };
}

/** Parses a key of facts or of a record, without the prefix of the store; `undefined` for other keys. */
export function readKey(kind: typeof FACTS | typeof UPLOADS, key: string): KeyFacts | undefined {
  if (!key.startsWith(kind)) return undefined;
  const [, place, expiresAt, size, token] =
    /^([^.]{1,900}\/[\da-f]{32})\.(\d{1,16})\.(\d{1,16})\.([\da-f]{32})$/.exec(key.slice(kind.length)) ?? [];
  if (place === undefined || token === undefined) return undefined;
  return keyFacts(kind, { place, expiresAt: Number(expiresAt), size: Number(size), token });
}

/**
 * Encodes a text as a name of letters, digits, - and _. A short one is base64url and begins with b; the hash of a long
 * one with h.
 */
async function nameOf(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text.toWellFormed());
  const isPlain = text.isWellFormed() && bytes.length <= LONGEST_NAME;
  if (!isPlain) return `h${await sha256Hex(JSON.stringify(text))}`;
  return `b${btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')}`;
}
