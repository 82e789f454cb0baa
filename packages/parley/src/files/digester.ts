/** SHA-256 of bytes that arrive one after another. */
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

/** A new digester: that of the host, if it has one that takes bytes one after another, else one of our own. */
export async function newDigester(): Promise<Digester> {
  const hash = (globalThis as { process?: HostModules }).process
    ?.getBuiltinModule?.('node:crypto')
    ?.createHash('sha256');
  if (hash !== undefined) return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('base64') };
  const { PortableDigester } = await import('./portable-digester.js');
  return new PortableDigester();
}
