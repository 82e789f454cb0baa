import { afterAll, vi } from 'vitest';

// Runs in every test file that shares a process. The next file loads its modules again: no cache in them is left.
afterAll(() => void vi.resetModules());
