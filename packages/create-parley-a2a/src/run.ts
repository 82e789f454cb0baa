import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { helpText, parseArguments, UsageError } from './command-line.js';
import { projectFiles } from './project-files.js';
import { type Answers, choicesOf, QUESTION_NAMES, QUESTIONS, type Question } from './questions.js';

/** The program that runs, and its terminal. */
export interface Invocation {
  /** The name of the program in its help, such as `parley init`. */
  readonly program: string;
  /** The version of the packages that the project depends on. */
  readonly version: string;
  /** The versions of Node.js that they need, as an npm range. */
  readonly nodeRange: string;
  /** Prints a text. */
  readonly write: (text: string) => void;
  /** The terminal for questions. Absent: no question is asked. */
  readonly terminal: Terminal | undefined;
}

/**
 * Writes a project into a folder, and prints what to do next. Without a terminal or with `--yes`, it asks no question.
 * @throws UsageError for arguments that are not accepted, and for a folder that already has one of the files.
 */
export async function run(args: readonly string[], invocation: Invocation): Promise<void> {
  const { program, version, nodeRange, write, terminal } = invocation;
  const { folder, name, answers: given, yes, force, help } = parseArguments(args);
  if (help) return write(helpText(program));
  const { folder: place = '.', ...answers } = await askAnswers({ folder, ...given }, yes ? undefined : terminal);
  const target = resolve(place);
  const files = projectFiles({
    name: name ?? packageName(basename(target)),
    version,
    nodeRange,
    key: randomBytes(24).toString('base64url'),
    ...answers,
  });
  const taken = Object.keys(files).filter((file) => existsSync(join(target, file)));
  if (taken.length > 0 && !force)
    throw new UsageError(`${place} already has ${taken.join(', ')}. Choose another folder, or overwrite with --force.`);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(target, file)), { recursive: true });
    // Only the owner may read secrets.
    writeFileSync(join(target, file), text, { mode: file === '.env' ? 0o600 : 0o666 });
  }
  write(`Wrote ${Object.keys(files).length} files into ${target}\n\nNext:\n`);
  const steps = [...(place === '.' ? [] : [`cd ${quote(place)}`]), 'npm install', 'npm run dev'];
  write(`${steps.map((step) => `  ${step}\n`).join('')}\nREADME.md has the rest.\n`);
}

function quote(folder: string): string {
  return /^[\w./-]+$/.test(folder) ? folder : JSON.stringify(folder);
}

function packageName(folder: string): string {
  return (
    folder
      .toLowerCase()
      .replaceAll(/[^a-z0-9._-]+/g, '-')
      .replace(/^[._-]+|(?<!-)-+$/g, '') || 'agent'
  );
}

/** All answers: the folder, and the questions with choices. */
type Asked = Answers & { readonly folder: string | undefined };

/** A terminal with a person. */
interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
}

/** Adds the missing answers: asked at the terminal, or the defaults without a terminal. */
async function askAnswers(given: Partial<Asked>, terminal: Terminal | undefined): Promise<Asked> {
  const lines = terminal && createInterface(terminal);
  const answers: Record<string, unknown> = { ...given };
  try {
    if (lines !== undefined && given.folder === undefined)
      answers.folder = (await lines.question('Which folder? [my-agent] ')).trim() || 'my-agent';
    for (const question of QUESTION_NAMES)
      answers[question] ??=
        lines === undefined ? choicesOf(question)[0] : await choose(question, lines.question.bind(lines));
    answers.container ??= lines === undefined || !/^n/i.test(await lines.question('A container? [Y/n] '));
  } finally {
    lines?.close();
  }
  return answers as Asked;
}

/** Asks until the answer is the number or the name of a choice. An empty answer is the default. */
async function choose(question: Question, ask: (text: string) => Promise<string>): Promise<string> {
  const choices = choicesOf(question);
  const rows = Object.entries(QUESTIONS[question].choices).map(
    ([name, meaning], index) => `  ${index + 1} ${name.padEnd(14)} ${meaning}`,
  );
  const prompt = `${QUESTIONS[question].text}\n${rows.join('\n')}\n[1] `;
  for (;;) {
    const answer = (await ask(prompt)).trim();
    const choice = answer === '' ? choices[0] : (choices[Number(answer) - 1] ?? choices.find((one) => one === answer));
    if (choice !== undefined) return choice;
  }
}
