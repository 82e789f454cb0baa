/** SHA-256 of bytes that arrive in chunks. */
export interface Digester {
  update(bytes: Uint8Array): void;
  /** The digest in base64. Called once, after the last bytes. */
  digest(): string;
}

/** The part of `process` that loads a module of the host at once, without an import that bundlers see. */
interface HostModules {
  getBuiltinModule?(
    name: string,
  ):
    | { createHash(name: string): { update(bytes: Uint8Array): unknown; digest(encoding: 'base64'): string } }
    | undefined;
}

/** Makes a digester: that of the host if it can hash in chunks, else `PortableDigester`. */
export async function newDigester(): Promise<Digester> {
  const hash = (globalThis as { process?: HostModules }).process
    ?.getBuiltinModule?.('node:crypto')
    ?.createHash('sha256');
  if (hash !== undefined) return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('base64') };
  const { PortableDigester } = await import('./portable-digester.js');
  return new PortableDigester();
}
