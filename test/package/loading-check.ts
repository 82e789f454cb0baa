import { describe, expect, it } from 'vitest';
import { documentedImports, readmeAgent } from './documents.js';
import { hostless, inProject, peerless, projectFile, projectWithPeers, subpaths, suite } from './packed.js';

const NODES = [
  { name: "the repository's Node.js", node: process.execPath },
  { name: 'the oldest Node.js supported', node: suite.oldestNode },
];

/** The README's agent, called once before it is closed. */
function calledAgent(): string {
  const call = [
    "const response = await fetch(url + '/a2a/rest/message:send', {",
    "  method: 'POST',",
    "  headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },",
    "  body: JSON.stringify({ message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'be heard' }] } }),",
    '});',
    'console.log(await response.text());',
  ].join('\n');
  // Its port may be in use on the testing machine.
  const [agent, port] = [readmeAgent(), 'listen(8080)'];
  expect(agent).toContain(port);
  return [agent.replace(port, 'listen(0)'), call, 'await server.close();'].join('\n');
}

/** The same code with `require`. CommonJS has no top-level `await`. */
function asCommonJs(code: string): string {
  const required = code.replace(/^import (\{.*?\}) from ('.*?');$/gm, 'const $1 = require($2);');
  expect(required).toContain('require(');
  return `(async () => {\n${required}\n})();\n`;
}

it('the console without its package: the error has the command that installs it', async () => {
  const code = [
    "import { createA2AServer } from 'parley-a2a/node';",
    "import { createAgentHandler } from 'parley-a2a/server';",
    'await createA2AServer({ agent: (text) => text, console: true }).listen(0).catch(({ message }) => console.log(message));',
    "const url = 'http://localhost:3000';",
    'const { fetch } = createAgentHandler({ agent: (text) => text, console: true, url });',
    'console.log((await (await fetch(new Request(url + "/console"))).json()).error.message);',
  ];
  expect(await inProject(process.execPath, [projectFile('console.mjs', code.join('\n'))])).toEqual({
    code: 0,
    output: 'The option console needs a package: npm install parley-a2a-console\n'.repeat(2),
  });
});

describe.each(NODES)("the README's agent on $name", ({ node }) => {
  it.each([
    ['as an ES module', 'agent.mjs', (code: string) => code],
    [
      'as TypeScript, its types stripped',
      'agent.mts',
      (code: string) => `${code}\nexport const typed: string = url;\n`,
    ],
    ['through require', 'agent.cjs', asCommonJs],
  ])('answers a call %s', async (_, file, form) => {
    const { code, output } = await inProject(node, [projectFile(file, form(calledAgent()))]);
    expect(output).toMatch(/^Shouter listens on http:\/\/127\.0\.0\.1:\d+$/m);
    expect(output).toContain('"state":"TASK_STATE_COMPLETED"');
    expect(output).toContain('"text":"BE HEARD "');
    expect(code).toBe(0);
  });
});

describe('the import paths', () => {
  it('are more than a few, and the core is among those that need nothing', () => {
    const core = ['parley-a2a', 'parley-a2a/server', 'parley-a2a/storage'];
    expect(peerless.map(({ specifier }) => specifier)).toEqual(expect.arrayContaining(core));
    expect(hostless.map(({ specifier }) => specifier)).toEqual(expect.arrayContaining(core));
    expect(subpaths.length).toBeGreaterThanOrEqual(5);
  });

  it.each(NODES)('load without the optional peers on $name', async ({ node }) => {
    const lines = peerless.map(({ specifier }) => `await import('${specifier}');`);
    expect(await inProject(node, [projectFile('load.mjs', lines.join('\n'))])).toEqual({ code: 0, output: '' });
  });

  // A static import of `node:http` would load it, a tenth of the start of a server.
  it.each(NODES)('load no HTTP client of Node.js on $name, nor does a server', async ({ node }) => {
    const code = [
      ...peerless.map(({ specifier }) => `await import('${specifier}');`),
      "const { createA2AServer } = await import('parley-a2a/node');",
      'const server = createA2AServer({ agent: (text) => text });',
      'await server.listen(0);',
      "console.log(process.moduleLoadList.filter((name) => name.includes('undici/undici')));",
      'await server.close();',
    ];
    expect(await inProject(node, [projectFile('clients.mjs', code.join('\n'))])).toEqual({ code: 0, output: '[]\n' });
  });

  it('all load where their peers are', async () => {
    const lines = subpaths.map(({ specifier }) => `await import('${specifier}');`);
    const args = ['--input-type=module', '--eval', lines.join('\n')];
    expect(await inProject(process.execPath, args, projectWithPeers())).toEqual({ code: 0, output: '' });
  });

  it('are one and the same through import and require', async () => {
    const lines = peerless.map(
      ({ specifier }) => `if ((await import('${specifier}')) !== require('${specifier}')) console.log('${specifier}');`,
    );
    const code = [
      "import { createRequire } from 'node:module';",
      'const require = createRequire(import.meta.url);',
      ...lines,
    ];
    expect(await inProject(process.execPath, [projectFile('same.mjs', code.join('\n'))])).toEqual({
      code: 0,
      output: '',
    });
  });

  it('change nothing of the world they are loaded in', async () => {
    const code = [
      // Node.js sets up the globals of the web when they are first used.
      'new Response();',
      'const names = () => Reflect.ownKeys(globalThis).map(String);',
      'const before = names();',
      ...peerless.map(({ specifier }) => `await import('${specifier}');`),
      'for (const name of names()) if (!before.includes(name)) console.log(name);',
    ];
    // With frozen prototypes, code that changes one of them throws.
    const { output } = await inProject(process.execPath, [
      '--frozen-intrinsics',
      projectFile('pure.mjs', code.join('\n')),
    ]);
    expect(output).toBe('');
  });

  it('are those that the documents name, and export what they import', async () => {
    expect(documentedImports.length).toBeGreaterThan(10);
    const known = subpaths.map(({ specifier }) => specifier);
    expect(documentedImports.filter(({ specifier }) => !known.includes(specifier))).toEqual([]);
    const values = documentedImports.filter(
      ({ type, specifier }) => !type && peerless.some((one) => one.specifier === specifier),
    );
    const code = values.map(
      ({ document, specifier, name }) =>
        `if (!('${name}' in (await import('${specifier}')))) console.log('${document}: ${specifier} has no ${name}');`,
    );
    expect((await inProject(process.execPath, [projectFile('named.mjs', code.join('\n'))])).output).toBe('');
  });
});
