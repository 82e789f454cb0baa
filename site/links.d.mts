export function withSiteLinks(
  markdown: string,
  at: { path: string; place?: string; urlOf: (path: string) => string | undefined },
): string;
