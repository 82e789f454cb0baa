// A server with files in a directory. It tells the address of its files.
import { directoryFileStore, fileTransfer } from '../../packages/parley/dist/exports/files.js';
import { createA2AServer } from '../../packages/parley/dist/exports/node.js';

const server = createA2AServer({
  agent: async () => 'done',
  files: fileTransfer({ store: directoryFileStore({ path: process.argv[2] }) }),
});
try {
  const { url } = await server.listen(0);
  process.send?.({ files: `${new URL(url).origin}/a2a/files` });
} catch (error) {
  process.send?.({ refused: String(error) });
  process.disconnect();
}
