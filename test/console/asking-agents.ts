import type { AgentOptions } from 'parley-a2a/node';
import { defineTool, jsonSchema, ToolRegistry, toolAgent } from 'parley-a2a/tools';

const pay = defineTool({
  name: 'pay',
  input: jsonSchema<{ euros: number }>({ type: 'object', required: ['euros'] }),
  needsApproval: true,
  run: ({ euros }) => `Paid ${euros} euros`,
});

const look = defineTool({
  name: 'look_up',
  input: jsonSchema<{ city: string }>({ type: 'object', required: ['city'] }),
  run: ({ city }) => ({ city, rooms: 3 }),
});

const room = defineTool({
  name: 'room',
  input: jsonSchema<{ city: string }>({ type: 'object', required: ['city'] }),
  run: ({ city }, { ask }) => {
    const answer = ask?.({
      message: `Which room in ${city}?`,
      schema: {
        type: 'object',
        properties: {
          nights: { type: 'integer', title: 'Nights', description: 'From 1 to 14.', minimum: 1, maximum: 14 },
          bed: { type: 'string', title: 'Bed', enum: ['single', 'double'] },
          name: { type: 'string', title: 'Name' },
          breakfast: { type: 'boolean', title: 'Breakfast' },
        },
        required: ['nights', 'bed'],
      },
    });
    if (answer?.action !== 'accept') return 'no room';
    return JSON.stringify(answer.content);
  },
});

/** Pays after an approval. A server that is killed meanwhile goes on with it. */
export const cashier: AgentOptions = {
  name: 'Cashier',
  description: 'Pays bills once you approve.',
  agent: toolAgent(new ToolRegistry([pay]), async (run, { events }) => {
    await events.complete(`${await run.call(pay, { euros: 50 })}`);
  }),
};

/** Calls a tool, then one that asks with a form. */
export const clerk: AgentOptions = {
  name: 'Clerk',
  description: 'Books rooms.',
  agent: toolAgent(new ToolRegistry([look, room]), async (run, { events }) => {
    await events.artifact('The guest wants **quiet**.', {
      artifactId: 'reasoning',
      name: 'reasoning',
      metadata: { 'urn:parley-a2a:extension:model-output:v1': { content: 'reasoning' } },
    });
    await run.call(look, { city: run.text });
    await events.complete(`Booked ${await run.call(room, { city: run.text })}`);
  }),
};

/** Needs an authorization at a provider, which is its own callback. */
export const secretary: AgentOptions = {
  name: 'Secretary',
  description: 'Reads your calendar.',
  agent: {
    async execute(context, events) {
      const { parameters } = await context.requestAuthorization({
        message: 'Please let me read your calendar',
        url: ({ url, state }) => `${url}?state=${state}&code=from-the-provider`,
        scopes: ['calendar.read'],
      });
      await events.complete(`The code has ${parameters.code?.length} characters`);
    },
  },
};

/** Tells the files that it got. */
export const postman: AgentOptions = {
  name: 'Postman',
  description: 'Takes files.',
  agent: {
    async execute({ message }, events) {
      const files = message.parts.flatMap((part) =>
        part.raw !== undefined ? [`${part.filename} ${part.mediaType} ${Buffer.from(part.raw, 'base64').length}`] : [],
      );
      await events.complete(`Got ${files.join(', ')}`);
    },
  },
};
