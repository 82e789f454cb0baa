export declare const OWN_SOURCES: { readonly find: RegExp; readonly replacement: string }[];
