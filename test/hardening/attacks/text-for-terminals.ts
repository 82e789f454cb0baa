import type { Attack } from './attack.js';

const OUTSIDE = 'test/hardening/text-for-terminals.test.ts';
const TEXT = 'packages/parley/src/telemetry/printable-text.test.ts';
const URLS = 'test/secrets/connection-urls.test.ts';
const SHOWN_URL = 'packages/parley/src/telemetry/printable-url.test.ts';

export const TEXT_FOR_TERMINALS: readonly Attack[] = [
  {
    attack: 'a name in a card that turns the direction of text and hides its end',
    file: OUTSIDE,
    test: "['a card', ['card', 'get', '{url}', '--verbose'], evilCard, evilError]",
  },
  {
    attack: 'an unknown member of a card whose name forges further lines of warnings',
    file: OUTSIDE,
    test: 'a card that does not follow the schema',
  },
  {
    attack: 'an id of a task with line ends, which forges lines in the command that follows the task',
    file: OUTSIDE,
    test: 'a task without details',
  },
  {
    attack: 'a request for authorization that forges a hint of the tool below it',
    file: OUTSIDE,
    test: 'a request for authorization',
  },
  {
    attack: 'a header with C1 controls, which Latin-1 allows, in the exchanges of --debug',
    file: OUTSIDE,
    test: 'exchanges, with --debug',
  },
  {
    attack: 'a message that the program of --exec repeats on its stderr',
    file: OUTSIDE,
    test: 'of a program that repeats it on its stderr',
  },
  {
    attack: 'a message whose text an agent throws, with line ends that look like lines of the log',
    file: OUTSIDE,
    test: 'of an agent that throws it, with all lines of the log',
  },
  {
    attack: 'a body with controls in the traffic that a proxy shows',
    file: OUTSIDE,
    test: 'of a proxy, with the traffic on stderr',
  },
  {
    attack: 'a file of settings in the folder whose names and values steer the terminal',
    file: OUTSIDE,
    test: 'names and values of a file in the folder',
  },
  {
    attack: 'bytes hidden in a row of variation selectors behind an emoji',
    file: TEXT,
    test: 'bytes hidden in selectors',
  },
  {
    attack: 'a joiner without width within a Latin name, which makes two names look the same',
    file: TEXT,
    test: 'joiners in Latin text',
  },
  {
    attack: 'a text that is cut between two pieces, so that each piece looks harmless',
    file: TEXT,
    test: 'text in pieces joins across them',
  },
  {
    attack: 'a new command that writes to a stream of the process itself, past the function that cleans',
    file: 'test/architecture/sinks.test.ts',
    test: 'is not written elsewhere',
  },
  {
    attack: 'the password of a database with a slash after digits, which a parser of urls takes for a path',
    file: URLS,
    test: 'postgres://user:12/$',
  },
  {
    attack: 'the password of a database with a question mark, whose rest is named as an unknown parameter',
    file: URLS,
    test: 'postgres://user:12?$',
  },
  {
    attack: 'a list such as host=… password=… in place of a url, which an error repeats',
    file: URLS,
    test: 'host=127.0.0.1 port=1 user=u password=',
  },
  {
    attack: 'the password of a database in the list of all settings',
    file: URLS,
    test: 'by the list of all settings: never, from any source',
  },
  {
    attack: 'a url of an agent with a user, which the fetch function refuses and repeats in its error',
    file: URLS,
    test: "['by send', (url)",
  },
  {
    attack: 'a secret that a percent-encoded url hides from a search for the plain text',
    file: SHOWN_URL,
    test: 'postgres://user:%73ecret@host/db',
  },
];
