/** What a list needs of a manifest. */
interface PackageManifest {
  readonly name: string;
  readonly bundled?: readonly string[];
}

export function writePartsList(
  manifest: PackageManifest,
  options: { readonly file: string; readonly packedFile: (name: string) => string | undefined },
): Promise<{ readonly code: number; readonly output: string }>;
