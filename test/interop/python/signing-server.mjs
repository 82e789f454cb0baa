// Serves two agents, one of them without a description, on the ports that are the first arguments. The keys in the
// files of the other arguments sign their cards.
import { createA2AServer, readCardKeys } from 'parley-a2a/node';

const [bare, described, ...files] = process.argv.slice(2);
const keys = await readCardKeys(files);

for (const [port, description] of [
  [bare, ''],
  [described, 'Übersetzt „alles“ 🌍'],
]) {
  const server = createA2AServer({
    name: 'Übersetzer 翻訳',
    description,
    agent: (prompt) => prompt,
    url: 'https://agent.example',
    cardSigning: { keys },
  });
  await server.listen(Number(port));
}
console.log('ready');
// Ends with the process that holds the other end.
process.stdin.on('end', () => process.exit(0)).resume();
