import type { Attack } from './attack.js';

const CONTRACT = 'test/contract/owner-data-contract.ts';
const CLI = 'test/cli/db-owner.test.ts';

export const DATA_OF_OWNERS: readonly Attack[] = [
  {
    attack: 'an owner id with % erases every user whose id is like it',
    file: CONTRACT,
    test: 'a pattern of LIKE',
  },
  {
    attack: 'an owner id with * or [a-z] matches the keys of other users in Redis',
    file: CONTRACT,
    test: 'a wildcard of a glob',
  },
  {
    attack: 'the beginning of the id of another user, so that names of keys and folders begin alike',
    file: CONTRACT,
    test: 'a prefix of another id',
  },
  {
    attack: 'an owner id with quotes and brackets closes the JSON or the SQL that it stands in',
    file: CONTRACT,
    test: 'quotes and escapes',
  },
  {
    attack: 'a user registers as "null" to be taken for the anonymous caller, or the reverse',
    file: CONTRACT,
    test: 'the text of no owner',
  },
  {
    attack: 'an erasure of the anonymous caller takes a user along, or finds nothing',
    file: CONTRACT,
    test: 'no user',
  },
  {
    attack: 'U+0000 or half a surrogate pair in an id, which a database cuts or refuses',
    file: CONTRACT,
    test: 'U+0000 and half a character',
  },
  {
    attack: 'messages in a loop on several agents, so that one of them is stored behind the back of the erasure',
    file: CONTRACT,
    test: 'do not come back by messages that race with the erasure: these are refused as retryable',
  },
  {
    attack: 'an agent that ignores its cancel writes its artifact after the erasure',
    file: CONTRACT,
    test: 'are erased while turns run: those are canceled, or overtaken and fenced',
  },
  {
    attack: 'a turn on another replica writes on while a tool on the database erases its task',
    file: CONTRACT,
    test: 'are erased by another process on a shared storage, whose late events of turns are refused',
  },
  {
    attack: 'the erasing process is killed, so that the user stays locked out, or its rest cannot be found',
    file: CONTRACT,
    test: 'can be erased again after a process died in the middle, and the block of a dead process ends',
  },
  {
    attack: 'deleted rows that are still in free pages, the log of SQLite or the statistics of PostgreSQL',
    file: CONTRACT,
    test: 'are gone after an erasure, and those of others stay',
  },
  {
    attack: 'a name of a file with ../ leaves the folder of an export',
    file: CLI,
    test: 'db export writes all records and files of this user only, and masks secrets of webhooks',
  },
  {
    attack: 'a symbolic link in the place of an export, or --force on a folder with other files',
    file: CLI,
    test: 'db export replaces only an earlier export, and follows no symbolic link',
  },
  {
    attack: 'a .env file or a variable that confirms an erasure, or narrows it so that data stay',
    file: CLI,
    test: 'db erase asks for a confirmation, and refuses without a terminal',
  },
  {
    attack: 'an upload in parts of another process that ends after the files of its user were erased',
    file: 'test/s3/owner-files.test.ts',
    test: 'a bucket has no file, upload or part of a user after an erasure, and all of the others',
  },
];
