export interface ApiSymbol {
  readonly name: string;
  /** The same for all names of a declaration. */
  readonly target: object;
  /** The package of the declaration, if it is another one. */
  readonly from?: string;
  readonly text: string;
}

export interface Api {
  readonly folder: string;
  readonly name: string;
  readonly entries: readonly { readonly path: string; readonly symbols: readonly ApiSymbol[] }[];
  readonly behind: readonly ApiSymbol[];
}

export function publicApis(folders?: readonly string[]): readonly Api[];
export function reportOf(api: Api): string;
export function reportFile(api: Api): string;
export function outdatedApis(apis?: readonly Api[]): readonly Api[];
