// Serves the cashier with the console until it is killed. Its tasks are in a file.
import { createA2AServer } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';
import { defineTool, jsonSchema, ToolRegistry, toolAgent } from 'parley-a2a/tools';

const [file, port] = process.argv.slice(2);
const pay = defineTool({
  name: 'pay',
  input: jsonSchema({ type: 'object', required: ['euros'] }),
  needsApproval: true,
  run: ({ euros }) => `Paid ${euros} euros`,
});
const server = createA2AServer({
  name: 'Cashier',
  agent: toolAgent(new ToolRegistry([pay]), async (run, { events }) => {
    await events.complete(`${await run.call(pay, { euros: 50 })}`);
  }),
  storage: await openStorage(`sqlite:${file}`),
  console: true,
  logRequests: false,
});
const { url } = await server.listen(Number(port));
process.stdout.write(`${url}\n`);
