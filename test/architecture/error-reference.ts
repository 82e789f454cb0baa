/** One row of the error reference. */
export interface ErrorRow {
  readonly code: string;
  readonly jsonRpc: string;
  readonly http: string;
  /** The name of its status in 1.0. */
  readonly grpc: string;
}

/** The rows of the tables in `docs/errors.md` whose first cell is an error code. */
export function errorRows(markdown: string): ErrorRow[] {
  return markdown.split('\n').flatMap((line) => {
    const cells = line.split('|').map((cell) => cell.trim());
    const code = /^`([A-Z_]+)`$/.exec(cells[1] ?? '')?.[1];
    return code === undefined
      ? []
      : [{ code, jsonRpc: cells[3] ?? '', http: cells[4] ?? '', grpc: (cells[5] ?? '').replaceAll('`', '') }];
  });
}

/** Codes that are missing on one side. */
export function differences(codes: readonly string[], rows: readonly ErrorRow[]): string[] {
  const described = rows.map(({ code }) => code);
  return [
    ...codes.filter((code) => !described.includes(code)).map((code) => `${code} is not in the reference`),
    ...described.filter((code) => !codes.includes(code)).map((code) => `${code} is in the reference only`),
    ...described.filter((code, index) => described.indexOf(code) !== index).map((code) => `${code} is described twice`),
  ];
}
