/** The SHA-256 of a text in UTF-8: 32 bytes. */
export async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
}

/** The first bytes of the SHA-256 of a text, as hex digits. */
export async function fingerprint(text: string, bytes: number): Promise<string> {
  const digest = await sha256(text);
  return Array.from(digest.subarray(0, bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * The SHA-256 of a text in UTF-8 as 64 hex digits. Hosts with a synchronous hash, such as Node.js, answer at once. That
 * takes 1 µs. The Web Crypto API of other hosts answers later, after a thread hop of 20 µs.
 */
export function sha256Hex(text: string): string | Promise<string> {
  const hash = synchronousHash();
  return hash === undefined ? fingerprint(text, 32) : hash('sha256', text);
}

type SynchronousHash = (algorithm: string, text: string) => string;
/** The part of `process` that loads a module of the host at once, without an import that bundlers see. */
type HostModules = { getBuiltinModule?(name: string): { readonly hash?: SynchronousHash } | undefined };

let known: { readonly hash: SynchronousHash | undefined } | undefined;

function synchronousHash(): SynchronousHash | undefined {
  known ??= { hash: (globalThis as { process?: HostModules }).process?.getBuiltinModule?.('node:crypto')?.hash };
  return known.hash;
}
