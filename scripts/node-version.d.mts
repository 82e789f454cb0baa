export function scriptSentence(version?: string): string | undefined;
export function vitestSentence(version?: string): string | undefined;
