/** The command of a line that begins with a slash. */
type ConversationCommand =
  | { readonly name: 'help' | 'cancel' | 'task' | 'exit' }
  | { readonly name: 'file'; readonly place: string }
  | { readonly name: 'unknown'; readonly word: string };

/** The commands of a conversation, for its help. */
export const CONVERSATION_HELP: readonly string[] = [
  '/file <path|url>  attach a file to the next message',
  '/task             show the ids and the state of the task',
  '/cancel           cancel the task that runs or waits',
  '/help             show this',
  '/exit             leave, as Ctrl-D does',
  '//…               send a message that begins with a slash',
  'Ctrl-C cancels the turn; a second one leaves.',
];

/** Parses a line as a command; undefined if it is a message. */
export function conversationCommand(line: string): ConversationCommand | undefined {
  if (!line.startsWith('/') || line.startsWith('//')) return undefined;
  const [word = '', ...rest] = line.trim().split(' ');
  const name = word.slice(1);
  if (name === 'file') return { name, place: rest.join(' ').trim() };
  if (name === 'help' || name === 'cancel' || name === 'task' || name === 'exit') return { name };
  return name === 'quit' ? { name: 'exit' } : { name: 'unknown', word };
}

/** Returns the message of a line. Two slashes at its beginning become one. */
export function messageOf(line: string): string {
  return line.startsWith('//') ? line.slice(1) : line;
}
