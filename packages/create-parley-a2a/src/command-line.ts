import { parseArgs } from 'node:util';
import { type Answers, choicesOf, QUESTION_NAMES, QUESTIONS } from './questions.js';

/** Arguments that the caller has to correct. Its text names the accepted ones. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The arguments of a call. Questions without a flag are absent from `answers`. */
export interface Arguments {
  readonly folder: string | undefined;
  readonly name: string | undefined;
  readonly answers: Partial<Answers>;
  /** True if no question is asked. */
  readonly yes: boolean;
  readonly force: boolean;
  readonly help: boolean;
}

const OPTIONS = {
  ...(Object.fromEntries(QUESTION_NAMES.map((name) => [name, { type: 'string' }])) as {
    readonly [Q in (typeof QUESTION_NAMES)[number]]: { readonly type: 'string' };
  }),
  container: { type: 'boolean' },
  name: { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
  force: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/**
 * Parses the arguments.
 * @throws UsageError naming the accepted values or flags.
 */
export function parseArguments(args: readonly string[]): Arguments {
  const { values, positionals } = parse(args);
  if (positionals.length > 1)
    throw new UsageError(`There is one folder, not ${positionals.length}: ${positionals.join(', ')}.`);
  const chosen: Record<string, string | boolean> = {};
  for (const question of QUESTION_NAMES) {
    const value = values[question];
    if (value === undefined) continue;
    const choices = choicesOf(question);
    if (!choices.includes(value))
      throw new UsageError(`--${question} is not "${value}". It is one of ${choices.join(', ')}.`);
    chosen[question] = value;
  }
  if (values.container !== undefined) chosen.container = values.container;
  return {
    folder: positionals[0],
    name: values.name,
    answers: chosen as Partial<Answers>,
    yes: values.yes === true,
    force: values.force === true,
    help: values.help === true,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, allowNegative: true });
  } catch (error) {
    const flags = Object.keys(OPTIONS).map((name) => `--${name}`);
    const { message } = error as Error;
    throw new UsageError(`${message.split('. ')[0]}. The flags are ${flags.join(', ')} and --no-container.`);
  }
}

/** The help of the program that is called as `program`. */
export function helpText(program: string): string {
  const rows = QUESTION_NAMES.flatMap((question) => [
    `  --${question}`,
    ...Object.entries(QUESTIONS[question].choices).map(
      ([choice, meaning], index) => `      ${choice.padEnd(14)} ${meaning}${index === 0 ? ' (default)' : ''}`,
    ),
  ]);
  return `Writes a project with an A2A agent that runs.

Usage: ${program} [folder] [flags]

${rows.join('\n')}
  --container, --no-container
      with or without a Dockerfile and a compose file (default: with)
  --name <name>   name of the package (default: that of the folder)
  --yes           asks nothing; so does a call without a terminal
  --force         overwrites files
  --help          shows this
`;
}
