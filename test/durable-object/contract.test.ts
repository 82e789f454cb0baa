import { describe, it } from 'vitest';
import type { TestResult } from './worker/test-runner.js';
import { startWorker } from './workerd.js';

// The contracts run in workerd, like the storage. This file only reports their results.
const results = await contractResults();

async function contractResults(): Promise<readonly TestResult[]> {
  const miniflare = await startWorker('contract-worker.ts', {
    className: 'Contract',
    binding: 'CONTRACT',
    flags: ['nodejs_compat'],
  });
  try {
    const answer = await miniflare.dispatchFetch('http://worker.example');
    return (await answer.json()) as TestResult[];
  } finally {
    await miniflare.dispose();
  }
}

describe('in workerd', () => {
  for (const { name, error } of results) {
    it(name, () => {
      if (error !== undefined) throw new Error(error);
    });
  }
});
