/** The servers that the commands call. */
export interface Places {
  readonly url: string;
  readonly guarded: string;
  readonly host: string;
}

/** A mistake at the command line, and the lines that it prints. */
export interface CommandMistake {
  readonly name: string;
  /** A file that the mistake needs, with its content. Its path is the last argument. */
  readonly file?: readonly [name: string, content: string];
  readonly args: (places: Places) => readonly string[];
  /** `FILE` stands for the path of the file, `URL` for the address of a server. */
  readonly prints: string;
}

const serve = () => ['serve', '--port', '0'];

export const COMMAND_MISTAKES: readonly CommandMistake[] = [
  {
    name: 'a syntax error in a module',
    file: ['broken.mjs', 'export const agent = (prompt) => prompt;\nconst x = ;\n'],
    args: serve,
    prints: "error: A2ACLI_ERR_INTERNAL: FILE cannot be loaded: FILE:2: SyntaxError: Unexpected token ';'\n",
  },
  {
    name: 'an export of another name',
    file: ['named.mjs', 'export const echo = (prompt) => prompt;\n'],
    args: serve,
    prints:
      'error: A2ACLI_ERR_USAGE: FILE exports no agent\nhint: it exports echo: give it the name agent, as in export { echo as agent }\n',
  },
  {
    name: 'an export whose agent has another name',
    file: ['misspelt.mjs', 'export default { agnet: (prompt) => prompt };\n'],
    args: serve,
    prints: 'error: A2ACLI_ERR_USAGE: FILE exports no agent\nhint: its export has agnet; did you mean agent?\n',
  },
  {
    name: 'an export with a method that is none',
    file: ['method.mjs', "export default { execute: 'echo' };\n"],
    args: serve,
    prints: 'error: A2ACLI_ERR_USAGE: FILE exports no agent\nhint: execute of its export must be a function\n',
  },
  {
    name: 'an export that is not awaited',
    file: ['promise.mjs', 'export default Promise.resolve({ agent: (prompt) => prompt });\n'],
    args: serve,
    prints:
      'error: A2ACLI_ERR_USAGE: FILE exports no agent\nhint: it exports a promise: await it, as in export default await makeAgent()\n',
  },
  {
    name: 'an export that is a class',
    file: ['class.mjs', 'export default class Echo { execute() {} }\n'],
    args: serve,
    prints: 'createA2AHost: the agent at /: agent: is a class: give an instance of it, made with new\n',
  },
  {
    name: 'a program in another language',
    file: ['agent.py', 'print("hello")\n'],
    args: serve,
    prints:
      'hint: serve loads JavaScript and TypeScript; --exec runs any program: parley serve --exec "<program> FILE"\n',
  },
  {
    name: 'a package that is not installed',
    file: ['package.mjs', "import 'no-such-package';\n"],
    args: serve,
    prints: 'hint: npm install no-such-package\n',
  },
  {
    name: 'a port in use',
    args: ({ url }) => ['serve', '--echo', '--port', new URL(url).port],
    prints: 'is taken\nhint: another --port or --host; --port 0 takes a free one\n',
  },
  {
    name: 'a call without a key',
    args: ({ guarded }) => ['send', 'hello', '-a', guarded],
    prints:
      'error: A2ACLI_ERR_CREDENTIALS_MISSING: Authentication is required\nhint: the agent takes --api-key <key> (or A2ACLI_API_KEY)\n',
  },
  {
    name: 'a call with a wrong key',
    args: ({ guarded }) => ['send', 'hello', '-a', guarded, '--api-key', 'wrong'],
    prints:
      'error: A2ACLI_ERR_AUTH_FAILED: the agent refused the credential: The credentials are not accepted: they are wrong or have expired\nhint: check the credential, or get a new one; the agent takes --api-key <key> (or A2ACLI_API_KEY)\n',
  },
  {
    name: 'a login to an agent with keys',
    args: ({ guarded }) => ['auth', 'login', '-a', guarded],
    prints:
      'error: A2ACLI_ERR_USAGE: A2A Agent takes no login: its card has no OAuth or OpenID Connect scheme\nhint: the agent takes --api-key <key> (or A2ACLI_API_KEY)\n',
  },
  {
    name: 'a logout without a login',
    args: () => ['auth', 'logout', 'agent.example'],
    prints: 'error: A2ACLI_ERR_USAGE: there is no login to https://agent.example/\nhint: there is no stored login\n',
  },
  {
    name: 'a host of several agents',
    args: ({ host }) => ['card', 'get', host],
    prints:
      'lists several agents: a, b. Name one behind the url, as in #a\nhint: the same command with #<identifier> behind the reference\n',
  },
  {
    name: 'an agent that does not run',
    args: () => ['send', 'hello', '-a', 'localhost:4'],
    prints:
      'error: A2ACLI_ERR_UNREACHABLE: http://localhost:4/.well-known/agent-card.json cannot be reached: nothing listens there (ECONNREFUSED)\nhint: does the agent run there? --debug shows what was tried\n',
  },
  {
    name: 'a card without interfaces',
    file: [
      'card.json',
      JSON.stringify({
        ...{ name: 'Bare', description: '', version: '1', supportedInterfaces: [], capabilities: {}, skills: [] },
        ...{ defaultInputModes: [], defaultOutputModes: [] },
      }),
    ],
    args: () => ['send', 'hello', '-a'],
    prints:
      'error: UnsupportedOperationError: Bare cannot be called: its card has no interfaces. Its author adds them to supportedInterfaces\n',
  },
  {
    name: 'no agent to list the tasks of',
    args: () => ['task', 'list'],
    prints:
      'error: A2ACLI_ERR_USAGE: which agent? Name it by --agent-card\nhint: parley task list … -a localhost:8080\n',
  },
  {
    name: 'an agent behind the message',
    args: () => ['send', 'hello', 'localhost:8080'],
    prints:
      'error: A2ACLI_ERR_USAGE: send does not take "localhost:8080" as an argument\nhint: -a localhost:8080 names the agent\n',
  },
  {
    name: 'the flag of other programs for JSON',
    args: () => ['version', '--json'],
    prints: 'error: A2ACLI_ERR_USAGE: there is no flag --json\nhint: for JSON write --output json\n',
  },
  {
    name: 'a misspelt command',
    args: () => ['sned', 'hello'],
    prints: 'no command "sned"; did you mean "send"?',
  },
];
