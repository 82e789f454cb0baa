import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Copy, DockerfileParser } from 'dockerfile-ast';

type Command = readonly [string, ...string[]];

/** An image without a container runtime: its folder, its environment, and its commands. */
export interface BuiltImage {
  readonly image: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly command: Command;
  readonly probe: Command;
}

/** Runs the steps of the Dockerfile of a project of two stages, each stage in a new folder below `parent`. */
export async function buildImage(
  project: string,
  parent: string,
  run: (shell: string, folder: string) => Promise<unknown>,
): Promise<BuiltImage> {
  const [build, image] = [join(parent, 'build'), join(parent, 'image')];
  for (const place of [build, image]) mkdirSync(place);
  const variables: Record<string, string> = {};
  let stage = 0;
  const instructions = instructionsOf(join(project, 'Dockerfile'));
  for (const { keyword, text, isFromBuild } of instructions) {
    if (keyword === 'FROM') stage += 1;
    const place = stage === 1 ? build : image;
    // The users of the image do not exist on this machine.
    if (keyword === 'RUN') await run(text.replace(/&& chown \S+ \S+/, ''), place);
    const from = (path: string) => (isFromBuild ? path.replace('/app', build) : `${project}/${path}`);
    if (keyword === 'COPY') await run(copyCommand(text, from, place), place);
    if (keyword === 'ENV') Object.assign(variables, Object.fromEntries(text.split(' ').map((pair) => pair.split('='))));
  }
  const commandOf = (wanted: string) => {
    const { text = '' } = instructions.findLast(({ keyword }) => keyword === wanted) ?? {};
    return JSON.parse(text.replace(/^CMD /, '')) as Command;
  };
  return { image, variables, command: commandOf('CMD'), probe: commandOf('HEALTHCHECK') };
}

/** The instructions of a Dockerfile, with their arguments in one line and without flags. */
function instructionsOf(path: string) {
  return DockerfileParser.parse(readFileSync(path, 'utf8'))
    .getInstructions()
    .map((one) => ({
      keyword: one.getKeyword(),
      text: (one.getRawArgumentsContent() ?? '').replaceAll(/\s*\\\n\s*/g, ' '),
      isFromBuild: one instanceof Copy && one.getFromFlag() !== null,
    }));
}

/** The shell command for the arguments of a COPY. Only the target may be a folder of its own. */
function copyCommand(text: string, from: (path: string) => string, place: string): string {
  const words = text.split(' ');
  const target = join(place, words.at(-1)?.replace(/node_modules\/$/, '') ?? '');
  return `cp -R ${words.slice(0, -1).map(from).join(' ')} ${target}`;
}
