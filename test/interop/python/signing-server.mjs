// Serves two agents, one of them without a description, on free ports. The keys in the files of the arguments sign
// their cards. Prints the address of each agent as JSON.
import { createA2AServer, readCardKeys } from 'parley-a2a/node';
import { freePort } from '../../support/servers/free-port.ts';

const keys = await readCardKeys(process.argv.slice(2));
const urls = {};
for (const [name, description] of [
  ['bare', ''],
  ['described', 'Übersetzt „alles“ 🌍'],
]) {
  const server = createA2AServer({
    name: 'Übersetzer 翻訳',
    description,
    agent: (prompt) => prompt,
    url: 'https://agent.example',
    cardSigning: { keys },
  });
  const port = await freePort();
  await server.listen(port);
  urls[name] = `http://127.0.0.1:${port}`;
}
console.log(JSON.stringify(urls));
// Ends with the process that holds the other end.
process.stdin.on('end', () => process.exit(0)).resume();
