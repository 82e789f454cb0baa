export declare const OWN_SOURCES: { readonly find: RegExp; readonly replacement: string }[];
export declare function ownSourceOf(module: string): string | undefined;
