import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const FILE = join(root, 'test/packages/hovered.mts');

/** A first agent and a first call. Each name in the table below is hovered at its first place. */
const PROGRAM = `
import { connect, createA2AServer, createAgentHandler, openStorage } from 'parley-a2a';
const storage = await openStorage('memory:');
const server = createA2AServer({
  storage,
  agent: async function* (prompt, context) {
    const incoming = context.message;
    yield prompt;
  },
});
const ownCard = server.agentCard;
const handler = createAgentHandler({ url: 'https://agent.example', agent: (prompt) => prompt });
const client = await connect('https://agent.example');
const card = client.card;
const skill = card.skills[0];
const answer = await client.sendMessage('hello');
const { task, text } = await client.ask('hello');
const state = task?.status.state;
const part = task?.artifacts?.[0]?.parts[0];
for await (const event of client.sendStreamingMessage('hello')) {
  const update = event.statusUpdate;
}
const page = await client.listTasks();
const found = await client.getTask('id');
`;

const options: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  types: ['node'],
};
const service = ts.createLanguageService({
  getCompilationSettings: () => options,
  getScriptFileNames: () => [FILE],
  getScriptVersion: () => '1',
  getScriptSnapshot: (file) => {
    const text = file === FILE ? PROGRAM : ts.sys.readFile(file);
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
  },
  getCurrentDirectory: () => root,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: (file) => file === FILE || ts.sys.fileExists(file),
  readFile: ts.sys.readFile,
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
});

/** The text that an editor shows for the first place of a name in the program. */
function hoverOf(name: string): string {
  const at = PROGRAM.search(new RegExp(`\\b${name}\\b`));
  return ts.displayPartsToString(service.getQuickInfoAtPosition(FILE, at)?.displayParts);
}

it('the program of the hovers has no error', () => {
  const found = service.getSemanticDiagnostics(FILE).map(({ messageText }) => messageText);
  expect(found).toEqual([]);
});

it.each([
  ['ownCard', 'const ownCard: AgentCard'],
  ['handler', 'const handler: AgentHandler'],
  ['storage', 'const storage: TaskStorage'],
  ['server', 'const server: A2AServer'],
  ['context', '(parameter) context: RequestContext'],
  ['incoming', 'const incoming: Message'],
  ['client', 'const client: Client'],
  ['card', 'const card: AgentCard'],
  ['skill', 'const skill: AgentSkill'],
  ['answer', 'const answer: SendMessageResponse'],
  ['task', 'const task: Task | undefined'],
  ['text', 'const text: string'],
  ['part', 'const part: Part | undefined'],
  ['event', 'const event: StreamResponse'],
  ['update', 'const update: TaskStatusUpdateEvent | undefined'],
  ['page', 'const page: ListTasksResponse'],
  ['found', 'const found: Task'],
])('an editor shows a name for %s', (name, hover) => {
  expect(hoverOf(name)).toBe(hover);
});

it.each([
  ['createA2AServer', /^\(alias\) function createA2AServer\(options: \w+\): A2AServer\b/],
  ['connect', /^\(alias\) function connect\(\w+: [\w| ]+, options\?: ConnectOptions( & \w+)?\): Promise<Client>/],
  ['openStorage', /^\(alias\) function openStorage\(url: string, .+\?: OpenStorageOptions\): Promise<TaskStorage>/],
])('an editor shows names for the arguments of %s', (name, hover) => {
  expect(hoverOf(name)).toMatch(hover);
});
