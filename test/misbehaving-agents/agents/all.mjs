import { bystanders, deadly } from './deadly.mjs';
import { endings, floods, holding, stubborn } from './endless.mjs';
import { afterwards, failures } from './failures.mjs';
import { garbage, odd } from './garbage.mjs';

export { afterwards, endings, failures, floods, garbage, odd, stubborn };

const oddities = Object.fromEntries(
  Object.entries(odd).map(([name, { data }]) => [
    `odd: ${name}`,
    {
      async run(_context, events) {
        await events.artifact(
          { data: data(), metadata: { odd: data() } },
          { artifactId: 'a', metadata: { odd: data() } },
        );
        await events.complete('done');
      },
    },
  ]),
);

/** Every way to misbehave, by the name that a message asks for. */
export const behaviours = {
  ...garbage,
  ...oddities,
  ...failures,
  ...afterwards,
  ...stubborn,
  ...endings,
  ...floods,
  ...deadly,
  ...bystanders,
  holding,
};
