// On runtimes that run programs. Arguments: the options of the calls, and the file with them.
import process from 'node:process';

const [options, file = './calls.mjs'] = process.argv.slice(2);
const { calls } = await import(file);
console.log(JSON.stringify(await calls(JSON.parse(options))));
