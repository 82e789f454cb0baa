// On runtimes that run programs: what is to be done comes as the only argument.
import process from 'node:process';
import { calls } from './calls.mjs';

console.log(JSON.stringify(await calls(JSON.parse(process.argv[2]))));
