// `npm run chaos`: builds, then runs replicas under load and faults, in the long form. It takes the arguments of
// test/chaos/run.mjs.
import { build } from './build.mjs';
import { ensureInstalled } from './installation.mjs';
import { main, runOwn } from './processes.mjs';

await main(async () => {
  await ensureInstalled();
  const args = process.argv.slice(2);
  if (!args.includes('--help')) await build();
  return (await runOwn(['test/chaos/run.mjs', ...args], { env: { TEST_LONG: '1' } })).code;
});
