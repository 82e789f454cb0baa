/** The questions about a new project, with their choices. The first choice is the default. */
export const QUESTIONS = {
  agent: {
    text: 'Which agent?',
    choices: {
      plain: 'one function',
      'ai-sdk': 'a model of the AI SDK',
      langgraph: 'a graph of LangGraph that asks before it acts',
      'openai-agents': 'an agent of the OpenAI Agents SDK',
      tools: 'tools that need an approval',
      http: 'an HTTP API that exists already',
    },
  },
  host: {
    text: 'In which server?',
    choices: {
      own: 'its own',
      express: 'Express 5',
      fastify: 'Fastify 5',
      hono: 'Hono 4 on Node.js',
      next: 'Next.js 16',
    },
  },
  storage: {
    text: 'Where are tasks kept?',
    choices: {
      sqlite: 'in a SQLite file, for one process',
      postgres: 'in PostgreSQL, for any number of processes',
      redis: 'in Redis or Valkey, for any number of processes',
      memory: 'in memory, lost when the process ends',
    },
  },
  auth: {
    text: 'Who may call it?',
    choices: {
      none: 'programs on this machine',
      key: 'callers with an API key',
      jwt: 'callers with a token of an OpenID Connect provider',
    },
  },
} as const;

type Questions = typeof QUESTIONS;

/** The name of a question with choices. */
export type Question = keyof Questions;

/** The choices of each question. */
export type Choice<Q extends Question> = keyof Questions[Q]['choices'] & string;

/** The answers to all questions. */
export type Answers = { readonly [Q in Question]: Choice<Q> } & {
  /** True for a Dockerfile, and for a compose file with the database. */
  readonly container: boolean;
};

/** All questions with choices, in their order. */
export const QUESTION_NAMES = Object.keys(QUESTIONS) as readonly Question[];

/** The choices of a question. The first is the default. */
export function choicesOf(question: Question): readonly [string, ...string[]] {
  return Object.keys(QUESTIONS[question].choices) as [string, ...string[]];
}
