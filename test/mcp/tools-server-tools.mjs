import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const object = (properties = {}, more = {}) => ({ type: 'object', properties, ...more });
const text = (value) => ({ content: [{ type: 'text', text: value }] });

/** An MCP server with tools for every case. */
export function toolsServer(Server) {
  const server = new Server({ name: 'tools', version: '1' }, { capabilities: { tools: { listChanged: true } } });
  let canceled = 0;
  let grown = false;
  let lists = 0;
  const trips = new Trips(server);
  const listed = () => ({
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
      { name: 'flood', inputSchema: object() },
      { name: 'lists', inputSchema: object() },
      { name: 'ask', inputSchema: object() },
      { name: 'book', inputSchema: object() },
      { name: 'forever', inputSchema: object() },
      { name: 'picture', inputSchema: object() },
      { name: 'trip', inputSchema: object() },
      { name: 'beside', inputSchema: object() },
      { name: 'runs', inputSchema: object() },
      { name: 'pattern', inputSchema: object({ word: { type: 'string', pattern: '^(a+)+$' } }) },
      { name: 'two words', inputSchema: object() },
      { name: 'untyped', inputSchema: {} },
      { name: 'schemaless' },
      { name: 'misspelt', inputSchema: object({ a: { type: 'strnig' } }) },
      { name: 'unlisted', inputSchema: { type: 'object', properties: 'a' } },
      { name: 'odd', inputSchema: object(), outputSchema: object({}, { required: 'sum' }) },
      { name: 7, inputSchema: object() },
      'no tool',
      null,
      { name: 'huge', inputSchema: object({ a: { const: 'x'.repeat(100_000) } }) },
      ...(grown ? [{ name: 'grown', inputSchema: object() }] : []),
    ],
  });
  server.setRequestHandler(ListToolsRequestSchema, () => {
    lists += 1;
    return listed();
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const { signal, requestId } = extra;
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
      case 'flood':
        for (let number = 0; number < 2_000; number += 1) await server.sendToolListChanged();
        grown = true;
        await server.sendToolListChanged();
        return text('flooded');
      case 'lists':
        return text(String(lists));
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
      case 'trip':
        return trips.plan(params.arguments, extra);
      case 'beside':
        return trips.beside(params.arguments);
      case 'runs':
        return text(trips.runs());
      case 'picture':
        return { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] };
      default:
        return text(`ran ${params.name}`);
    }
  });
  return server;
}

/** A tool that asks two questions at once, and one that ends once no trip waits for an answer. */
class Trips {
  #server;
  /** Runs of the tools so far, trips that asked so far, and both of now. */
  #count = { trips: 0, besides: 0, asked: 0, running: 0, asking: 0 };
  #changed = Promise.withResolvers();

  constructor(server) {
    this.#server = server;
  }

  /**
   * `late`: asks while the other tool runs. `after`: asks after that has begun. `loose`: the questions do not go to the
   * stream of the call. `deaf`: the call has no end. `tardy`: asks once the call is canceled.
   */
  async plan({ late, after, loose, deaf, tardy }, { requestId: relatedRequestId, signal }) {
    this.#count.trips += 1;
    if (tardy) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    if (late) await this.#until(() => this.#count.running > 0);
    if (after) await this.#until(() => this.#count.besides > 0);
    const ask = (name) =>
      this.#server.elicitInput(
        { message: `Which ${name}?`, requestedSchema: object({ [name]: { type: 'string' } }, { required: [name] }) },
        loose ? {} : { relatedRequestId },
      );
    const asked = Promise.all([ask('city'), ask('day')]);
    this.#change({ asked: 1, asking: 1 });
    const [city, day] = await asked.finally(() => this.#change({ asking: -1 }));
    if (deaf) await new Promise(() => {});
    if (city.action !== 'accept' || day.action !== 'accept') return text(`No trip: ${city.action} ${day.action}`);
    return text(`${city.content.city} on ${day.content.day}`);
  }

  /** `along`: a trip must ask while this runs. */
  async beside({ along }) {
    this.#count.besides += 1;
    const number = this.#count.besides;
    const before = along ? this.#count.asked : 0;
    this.#change({ running: 1 });
    await this.#until(() => this.#count.asked > before && this.#count.asking === 0);
    this.#change({ running: -1 });
    return text(`ran ${number}`);
  }

  runs() {
    return `${this.#count.trips} trips, ${this.#count.besides} besides`;
  }

  #change(steps) {
    for (const [name, step] of Object.entries(steps)) this.#count[name] += step;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  async #until(isTrue) {
    while (!isTrue()) await this.#changed.promise;
  }
}
