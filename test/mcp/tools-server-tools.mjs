import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const object = (properties = {}, more = {}) => ({ type: 'object', properties, ...more });
const text = (value) => ({ content: [{ type: 'text', text: value }] });

/** An MCP server with tools for every case. */
export function toolsServer(Server) {
  const server = new Server({ name: 'tools', version: '1' }, { capabilities: { tools: { listChanged: true } } });
  let canceled = 0;
  let grown = false;
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [
      {
        name: 'add',
        description: 'Adds \u001b[31mtwo numbers',
        inputSchema: object({ a: { type: 'number' }, b: { type: 'number' } }, { required: ['a', 'b'] }),
        outputSchema: object({ sum: { type: 'number' } }, { required: ['sum'] }),
      },
      { name: 'lie', inputSchema: object(), outputSchema: object({ sum: { type: 'number' } }, { required: ['sum'] }) },
      { name: 'fail', inputSchema: object() },
      { name: 'hang', inputSchema: object() },
      { name: 'canceled', inputSchema: object() },
      { name: 'variables', inputSchema: object() },
      { name: 'die', inputSchema: object() },
      { name: 'grow', inputSchema: object() },
      { name: 'ask', inputSchema: object() },
      { name: 'book', inputSchema: object() },
      { name: 'forever', inputSchema: object() },
      { name: 'picture', inputSchema: object() },
      { name: 'pattern', inputSchema: object({ word: { type: 'string', pattern: '^(a+)+$' } }) },
      { name: 'two words', inputSchema: object() },
      { name: 'huge', inputSchema: object({ a: { const: 'x'.repeat(100_000) } }) },
      ...(grown ? [{ name: 'grown', inputSchema: object() }] : []),
    ],
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, requestId }) => {
    switch (params.name) {
      case 'add':
        return { ...text('a sum'), structuredContent: { sum: params.arguments.a + params.arguments.b } };
      case 'lie':
        return { ...text('a sum'), structuredContent: { sum: 'many' } };
      case 'fail':
        return { ...text('The disk is full'), isError: true };
      case 'hang':
        return new Promise(() => {
          signal.addEventListener('abort', () => {
            canceled += 1;
          });
        });
      case 'canceled':
        return text(String(canceled));
      case 'variables':
        return text(Object.keys(process.env).sort().join());
      case 'die':
        return process.exit(1);
      case 'grow':
        grown = true;
        await server.sendToolListChanged();
        return text('grown');
      case 'ask': {
        const { action, content } = await server.elicitInput(
          { message: 'Which city?', requestedSchema: object({ city: { type: 'string' } }, { required: ['city'] }) },
          { relatedRequestId: requestId },
        );
        return text(action === 'accept' ? `It rains in ${content.city}` : 'No city');
      }
      case 'book': {
        const fields = { city: { type: 'string', title: 'Town' }, nights: { type: 'integer', minimum: 1 } };
        const asked = { message: 'Which room?', requestedSchema: object(fields, { required: ['city', 'nights'] }) };
        const room = await server.elicitInput(asked, { relatedRequestId: requestId });
        if (room.action !== 'accept') return text(`No room: ${room.action}`);
        const { city, nights } = room.content;
        const sure = await server.elicitInput(
          { message: `Book ${nights} nights in ${city}?`, requestedSchema: object({ sure: { type: 'boolean' } }) },
          { relatedRequestId: requestId },
        );
        return text(sure.action === 'accept' && sure.content.sure ? `Booked ${city}` : 'Not booked');
      }
      case 'forever': {
        for (let number = 1; !signal.aborted; number += 1) {
          const requestedSchema = object({ value: { type: 'string' } });
          const asked = { message: `Question ${params.arguments.same ? '' : number}`, requestedSchema };
          const { action } = await server.elicitInput(asked, { relatedRequestId: requestId });
          if (action === 'cancel' && !params.arguments.stubborn) return text('stopped');
        }
        return text('aborted');
      }
      case 'picture':
        return { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] };
      default:
        return text(`ran ${params.name}`);
    }
  });
  return server;
}
