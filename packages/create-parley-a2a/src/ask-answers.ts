import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { type Answers, choicesOf, QUESTION_NAMES, QUESTIONS, type Question } from './questions.js';

/** All answers: the folder, and the questions with choices. */
type Asked = Answers & { readonly folder: string | undefined };

/** A terminal with a person. */
export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
}

/** Adds the missing answers: asked at the terminal, or the defaults without a terminal. */
export async function askAnswers(given: Partial<Asked>, terminal: Terminal | undefined): Promise<Asked> {
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
