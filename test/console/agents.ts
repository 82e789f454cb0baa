import type { AgentOptions } from 'parley-a2a/node';
import type { Steps } from './steps.js';

/** One pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** The text of the storyteller. */
export const STORY = [
  '## The lighthouse\n\nOnce there was a **keeper** ',
  'who counted *ships*.\n\n',
  '1. A brig\n2. A cutter\n',
  '3. A schooner\n\n',
  '| Ship | Mast |\n| --- | --- |\n| Brig | 2 |\n| Cutter | 1 |\n\n',
  '```ts\nconst lamp = "lit";\n```\n\n',
  'He wrote to <https://example.com/harbour>, and the lamp stayed `lit`.',
];

/** Streams a text, one piece for each step. */
export function storyteller(steps: Steps): AgentOptions {
  return {
    name: 'Storyteller',
    version: '2.1.0',
    description: 'Tells a story piece by piece. It goes on while its server runs, also if nobody reads.',
    skills: [
      {
        id: 'story',
        name: 'Tell a story',
        description: 'Streams a short story in Markdown, with a list, a table and code.',
        tags: ['text', 'streaming'],
        examples: ['Tell me about the lighthouse', 'A story about ships, please'],
      },
      { id: 'note', name: 'Take a note', description: 'Answers at once.', tags: ['text'], examples: ['Note: buy oil'] },
    ],
    agent: {
      async execute(context, events) {
        await events.working('Looking for a story');
        if (context.text.startsWith('Note')) {
          await events.artifact(`Noted: ${context.text.slice(5)}`, { name: 'note' });
          await events.complete();
          return;
        }
        let id: string | undefined;
        for (const piece of STORY) {
          if (!(await steps.next(context.signal))) return;
          if (id === undefined) id = await events.artifact(piece, { name: 'story', lastChunk: false });
          else await events.append(id, piece);
        }
        await events.complete();
      },
    },
  };
}

/** Asks for a colour before it paints. */
export const painter: AgentOptions = {
  name: 'Painter',
  description: 'Paints a fence in the colour that you choose.',
  skills: [{ id: 'paint', name: 'Paint', description: 'Paints a fence.', tags: [], examples: ['Paint my fence'] }],
  agent: {
    async execute(context, events) {
      if (!['red', 'green'].includes(context.text)) {
        await events.inputRequired('Which **colour**?');
        return;
      }
      await context.countTokens({ inputTokens: 1_200, outputTokens: 30, cachedInputTokens: 1_000 });
      await events.artifact(`The fence is ${context.text}.`, { name: 'fence' });
      await events.complete();
    },
  },
};

/** Answers with files. */
export const archivist: AgentOptions = {
  name: 'Archivist',
  description: 'Keeps pictures and papers.',
  agent: () => [
    { raw: PNG, mediaType: 'image/png', filename: 'dot.png' },
    { raw: Buffer.from('<svg/>').toString('base64'), mediaType: 'image/svg+xml', filename: 'drawing.svg' },
    { url: 'https://files.example.com/report.pdf', mediaType: 'application/pdf', filename: 'report.pdf' },
    { data: { shelf: 4, papers: ['a', 'b'] } },
  ],
};

/** Marks of the hostile agent. A script that runs would set the title or call the address. */
export const HOSTILE_TEXT = [
  '<img src=x onerror="document.title=\'owned\'"> <script>document.title = "owned"</script>',
  '<iframe src="/console/agents.json?framed"></iframe> <svg onload="document.title=\'owned\'"></svg>',
  '[press here](javascript:document.title="owned") and [there](JaVaScRiPt:document.title="owned")',
  '[data](data:text/html,<script>document.title="owned"</script>)',
  '![beacon](/console/beacon.png) and ![outside](https://tracker.example.com/pixel.png)',
  'invoice\u202Efdp.exe',
  `${'x'.repeat(5_000)}`,
  `${'> '.repeat(300)}deep`,
  `${'[('.repeat(3_000)}`,
].join('\n\n');

/** Sends all kinds of scripts that must not run, and imitates the name of another agent. */
export const hostile: AgentOptions = {
  name: `Bank\u202E<b>safe</b>\u200B${'A'.repeat(400)}`,
  description: '<script>document.title="owned"</script> [card](javascript:document.title="owned")',
  version: '"><script>document.title="owned"</script>',
  skills: [
    {
      id: 'hostile',
      name: '<img src=x onerror=document.title="owned">',
      description: `\u202Eevil ${'w'.repeat(1_000)}`,
      tags: ['<script>', 'b'.repeat(500)],
      examples: ['<script>document.title="owned"</script>'],
    },
  ],
  agent: {
    async execute(_context, events) {
      await events.working('<script>document.title="owned"</script>');
      await events.artifact(
        [
          { text: HOSTILE_TEXT },
          {
            raw: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="document.title=\'owned\'"/>').toString(
              'base64',
            ),
            mediaType: 'image/svg+xml',
            filename: '../../\u202Egnp.svg',
          },
          { url: 'javascript:document.title="owned"', filename: 'press.me' },
          { text: '<b>html</b><script>document.title="owned"</script>', mediaType: 'text/html' },
        ],
        { name: '</code><script>document.title="owned"</script>' },
      );
      await events.complete('<script>document.title="owned"</script>');
    },
  },
};
