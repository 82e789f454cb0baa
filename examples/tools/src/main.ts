import { createA2AServer } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';
import { capnwebBinding } from 'parley-a2a-capnweb';
import { bookShop } from './book-shop.js';

const { PORT = '8080' } = process.env;

const storage = await openStorage('sqlite:./data/tools.db');
const server = createA2AServer({
  name: 'Books',
  description: 'Sells Dune, Emma and Ulysses',
  agent: bookShop,
  bindings: [capnwebBinding()],
  storage,
});
const { url } = await server.listen(Number(PORT));
console.log(`Listening on ${url}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await server.close();
    await storage.close();
  });
}
