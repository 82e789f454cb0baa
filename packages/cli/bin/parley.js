#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

enableCompileCache();
// Loaded after the cache is on, so that it is served from it.
const { main } = await import('../bundle/run.js');
await main(process.argv.slice(2));
