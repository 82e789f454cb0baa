import { flushCompileCache } from 'node:module';
import { afterAll } from 'vitest';

// Runs in every test file with a process of its own, which is killed: Node.js would not write what it has compiled.
afterAll(() => flushCompileCache());
