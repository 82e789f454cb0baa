export function startExampleServer(
  main?: string,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }>;
