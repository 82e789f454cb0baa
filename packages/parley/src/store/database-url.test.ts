import { describe, expect, it } from 'vitest';
import { parseDatabaseUrl } from './database-url.js';

describe('a database url', () => {
  it.each([
    ['memory:', { backend: 'memory' }],
    ['memory:?tasks=1000', { backend: 'memory', maxTasks: 1000 }],
    ['memory:?bytes=67108864&tasks=5', { backend: 'memory', maxTasks: 5, maxBytes: 67_108_864 }],
    ['sqlite:./data/parley.db', { backend: 'sqlite', path: './data/parley.db', durability: 'power-loss' }],
    ['sqlite:parley.db', { backend: 'sqlite', path: 'parley.db', durability: 'power-loss' }],
    ['sqlite:/var/lib/a b.db', { backend: 'sqlite', path: '/var/lib/a b.db', durability: 'power-loss' }],
    ['sqlite:///var/a.db', { backend: 'sqlite', path: '///var/a.db', durability: 'power-loss' }],
    ['sqlite:C:\\data\\a.db', { backend: 'sqlite', path: 'C:\\data\\a.db', durability: 'power-loss' }],
    ['sqlite:a.db?durability=process', { backend: 'sqlite', path: 'a.db', durability: 'process' }],
    ['sqlite:a.db?durability=power-loss', { backend: 'sqlite', path: 'a.db', durability: 'power-loss' }],
  ])('%s is read', (url, read) => {
    expect(parseDatabaseUrl(url)).toEqual(read);
  });

  it.each([
    '',
    'memory',
    'memory:x',
    'memory:?',
    'memory:?tasks=0',
    'memory:?tasks=many',
    'memory:?size=5',
    'sqlite',
    'sqlite:',
    'sqlite:?durability=process',
    'sqlite::memory:',
    'sqlite:a.db?durability=none',
    'sqlite:a.db?mode=ro',
    'sqlite://data/a.db',
    'mysql://host/db',
    './data/parley.db',
  ])('"%s" is refused by its name', (url) => {
    expect(() => parseDatabaseUrl(url)).toThrow(`Database url: "${url}" must be`);
  });

  it.each(['secret', 'sec/ret', 'sec@ret', 'sec?ret', 'sec#ret'])('is named without its password %s', (password) => {
    expect(() => parseDatabaseUrl(`mysql://root:${password}@host/db`)).toThrow('"mysql://***@host/db"');
  });

  it.each([
    ['postgres://u:secret@host/db', 'postgres'],
    ['postgresql://host/db', 'postgres'],
    ['redis://:secret@host', 'redis'],
    ['rediss://host', 'redis'],
  ])('%s names the package that it needs', (url, name) => {
    const remedy = `needs a package: npm install parley-a2a-${name}, and name its ${name}Backend in backends`;
    expect(() => parseDatabaseUrl(url)).toThrow(remedy);
    expect(() => parseDatabaseUrl(url)).not.toThrow('secret');
  });
});
