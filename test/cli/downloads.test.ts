import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FILES_EXTENSION } from 'parley-a2a/client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FileServer } from '../file-client/file-server.js';
import { EmptyFolder, type ParleyResult, parley, RunningParley } from './parley.js';
import { RecordingAgent, result } from './recording-agent.js';

let folder: EmptyFolder;
let files: FileServer;
beforeEach(async () => {
  folder = new EmptyFolder();
  files = await FileServer.start({ content: randomBytes(400_000) });
});
afterEach(async () => {
  folder[Symbol.dispose]();
  await files[Symbol.asyncDispose]();
});

/** An agent with one task whose artifact has these parts. Its card declares the server of the files, or none. */
function agentWith(parts: readonly object[], declared: string | undefined = files.url): Promise<RecordingAgent> {
  const status = { state: 'TASK_STATE_COMPLETED' };
  const extensions = declared === undefined ? [] : [{ uri: FILES_EXTENSION, params: { url: `${declared}/files` } }];
  return RecordingAgent.start({
    card: { capabilities: { extensions } },
    answer: () => result({ id: 't1', contextId: 'c1', status, artifacts: [{ artifactId: 'a1', parts }] }),
  });
}

const film = () => ({ url: `${files.url}/files/1`, filename: 'film.bin', mediaType: 'x/y' });
const place = (name: string) => join(folder.path, name);
const download = (agent: RecordingAgent, ...more: readonly string[]): Promise<ParleyResult> =>
  parley(['task', 'download', 't1', '--dir', folder.path, '-a', agent.url, ...more]);
const isWhole = (name = 'film.bin') => readFileSync(place(name)).equals(files.behaviour.content);

it('streams the file of a url part to disk, beside the other parts', async () => {
  await using agent = await agentWith([film(), { text: 'a note', filename: 'note.txt' }]);
  const { code, stdout } = await download(agent, '-o', 'json');
  expect(code).toBe(0);
  expect(isWhole()).toBe(true);
  expect(readdirSync(folder.path).sort()).toEqual(['film.bin', 'note.txt']);
  expect(JSON.parse(stdout)).toMatchObject({
    files: [{ path: place('film.bin'), artifactId: 'a1', bytes: 400_000 }, { path: place('note.txt') }],
    references: [],
  });
});

it('resumes after a cut connection, and in a second run after the process was killed', async () => {
  await using agent = await agentWith([film(), { text: 'a note', filename: 'note.txt' }]);
  files.behaviour.cutAfter = (request) => (request === 1 ? 100_000 : 1e9);
  expect((await download(agent)).code).toBe(0);
  expect(isWhole()).toBe(true);
  expect(files.requests).toHaveLength(2);

  const { content } = files.behaviour;
  const half = new Promise<void>((resolve) => {
    files.behaviour.answer = (_, response) => {
      response.writeHead(200, { 'content-length': content.length, etag: '"v1"' });
      response.write(content.subarray(0, 200_000), () => resolve());
      return true;
    };
  });
  const args = ['task', 'download', 't1', '--force', '--dir', folder.path, '-a', agent.url];
  const running = new RunningParley(args);
  await half;
  await expect
    .poll(() => existsSync(place('film.bin.part')) && readFileSync(place('film.bin.part')).length)
    .toBe(200_000);
  await running.stop('SIGKILL');
  expect(readdirSync(folder.path).sort()).toEqual(['film.bin', 'film.bin.part', 'film.bin.part.json', 'note.txt']);
  files.behaviour.answer = () => false;
  const { code, stderr } = await download(agent, '--force');
  expect(code).toBe(0);
  expect(stderr).toContain('behind byte 200000');
  expect(files.requests.at(-1)?.headers).toMatchObject({ range: 'bytes=200000-', 'if-range': '"v1"' });
  expect(isWhole()).toBe(true);
  expect(readdirSync(folder.path).sort()).toEqual(['film.bin', 'note.txt']);
});

it('restarts a download if the file has changed since the first run', async () => {
  await using agent = await agentWith([film()]);
  const source = createHash('sha256').update(film().url).digest('hex');
  writeFileSync(place('film.bin.part'), 'old');
  writeFileSync(place('film.bin.part.json'), JSON.stringify({ source, etag: '"v0"' }));
  expect((await download(agent)).code).toBe(0);
  expect(isWhole()).toBe(true);
});

it('overwrites only with --force, and only regular files', async () => {
  await using agent = await agentWith([film()]);
  for (const name of ['film.bin', 'film.bin.part', 'film.bin.part.json']) {
    writeFileSync(place(name), 'mine');
    expect((await download(agent)).stderr).toContain(`${place(name)} is there already`);
    expect(readFileSync(place(name), 'utf8')).toBe('mine');
    expect((await download(agent, '--force')).code).toBe(0);
    expect(isWhole()).toBe(true);
    for (const one of readdirSync(folder.path)) expect(one).toBe('film.bin');
    rmSync(place('film.bin'));
  }
  writeFileSync(place('outside'), 'mine');
  for (const name of ['film.bin.part', 'film.bin']) {
    symlinkSync(place('outside'), place(name));
    expect((await download(agent)).code).toBe(1);
    expect((await download(agent, '--force')).code).toBe(1);
    expect(readFileSync(place('outside'), 'utf8')).toBe('mine');
    for (const one of readdirSync(folder.path)) if (one !== 'outside') rmSync(place(one));
  }
});

it('keeps an existing file with the same content', async () => {
  await using agent = await agentWith([film()]);
  expect((await download(agent)).code).toBe(0);
  const { sent } = files;
  const { code, stderr } = await download(agent);
  expect(code).toBe(0);
  expect(stderr).toContain('is there already, with the same content');
  expect(files.sent - sent).toBeLessThanOrEqual(400_000);
});

it('deletes a file with a wrong digest, and refuses a file above --max-bytes', async () => {
  await using agent = await agentWith([film()]);
  const large = await download(agent, '--max-bytes', '399kB');
  expect(large.code).toBe(1);
  expect(large.stderr).toContain('larger than 399000 bytes');
  files.behaviour.digest = `sha-256=:${createHash('sha256').update('other').digest('base64')}:`;
  expect((await download(agent)).stderr).toContain('does not fit its digest');
  expect(readdirSync(folder.path)).toEqual([]);
  expect((await download(agent, '--max-bytes', 'much')).code).toBe(2);
});

it('sends the credential to the agent only, and downloads from other origins only if flags allow them', async () => {
  await using agent = await agentWith([film()], '');
  const refused = await download(agent, '--bearer', 'secret');
  expect(refused.code).toBe(0);
  expect(refused.stdout).toContain('a reference: not fetched');
  const guarded = await download(agent, '--bearer', 'secret', '--file-origin', 'public');
  expect(guarded.code).toBe(1);
  expect(guarded.stderr).toContain('is no allowed address');
  expect(files.requests).toEqual([]);
  const named = await download(agent, '--bearer', 'secret', '--file-origin', files.url);
  expect(named.stderr).toBe('');
  expect(isWhole()).toBe(true);
  expect(JSON.stringify(files.requests)).not.toContain('secret');
  expect((await download(agent, '--file-origin', 'ftp://x')).code).toBe(2);
});

it('turns any name of a part into a name within the folder', async () => {
  await using agent = await agentWith([
    { ...film(), filename: '../../evil.bin' },
    { ...film(), filename: 'evil.bin' },
  ]);
  expect((await download(agent)).code).toBe(0);
  expect(readdirSync(folder.path).sort()).toEqual(['evil-2.bin', 'evil.bin']);
});

it('--debug does not print the bytes of a file', async () => {
  await using agent = await agentWith([film()]);
  files.behaviour.headers = { 'content-type': 'image/png', 'content-disposition': 'attachment' };
  const { code, stderr } = await download(agent, '--debug');
  expect(code).toBe(0);
  expect(stderr).toContain('(the body is not shown)');
  expect(isWhole()).toBe(true);
});
