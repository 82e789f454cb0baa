import type { ProjectParts } from './part.js';
import { mergeImports, sourceText } from './source-text.js';

/** The source of `ask.ts`: a client that asks the agent once. */
export function clientSource({ agent, host, auth }: ProjectParts): string {
  const address = `process.env.AGENT_URL ?? 'http://localhost:${host.port}${host.path}'`;
  const { imports = {}, credentials } = auth.client ?? {};
  const options = credentials === undefined ? '' : `, {\n  credentials: ${credentials},\n}`;
  return sourceText(
    mergeImports({ 'parley-a2a/client': ['connect'] }, imports),
    `const question = process.argv[2] ?? '${agent.message}';
const client = await connect(${address}${options});
const { task, text } = await client.ask(question);
console.log(text || task?.status.state);
client.close();
`,
  );
}
