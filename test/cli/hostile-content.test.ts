import { execFileSync } from 'node:child_process';
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EmptyFolder, parley } from './parley.js';
import { RecordingAgent, result } from './recording-agent.js';

const task = (filename: string, text = 'new') => ({
  id: 't1',
  contextId: 'c1',
  status: { state: 'TASK_STATE_COMPLETED' },
  artifacts: [{ artifactId: 'a1', name: 'file', parts: [{ raw: Buffer.from(text).toString('base64'), filename }] }],
});

describe('files of an agent', () => {
  const download = async (agent: RecordingAgent, folder: EmptyFolder, ...more: readonly string[]) =>
    parley(['task', 'download', 't1', '--dir', join(folder.path, 'out'), '-a', agent.url, ...more]);

  it('are not written through a link, with or without --force', async () => {
    using folder = new EmptyFolder();
    await using agent = await RecordingAgent.start({ answer: () => result(task('notes.txt')) });
    mkdirSync(join(folder.path, 'out'));
    const [path, elsewhere] = [join(folder.path, 'out', 'notes.txt'), join(folder.path, 'elsewhere')];
    symlinkSync(elsewhere, path);
    expect((await download(agent, folder)).stderr).toMatch(/notes\.txt is there already/);
    expect((await download(agent, folder, '--force')).stderr).toMatch(/notes\.txt is a link/);
    expect(existsSync(elsewhere)).toBe(false);
  });

  it('replace a regular file with --force, and do not change its other hard link', async () => {
    using folder = new EmptyFolder();
    await using agent = await RecordingAgent.start({ answer: () => result(task('notes.txt')) });
    mkdirSync(join(folder.path, 'out'));
    const [path, other] = [join(folder.path, 'out', 'notes.txt'), join(folder.path, 'other')];
    writeFileSync(other, 'old');
    linkSync(other, path);
    expect((await download(agent, folder, '--force')).code).toBe(0);
    expect([readFileSync(path, 'utf8'), readFileSync(other, 'utf8')]).toEqual(['new', 'old']);
    expect(readdirSync(join(folder.path, 'out'))).toEqual(['notes.txt']);
  });

  it('are not written to a pipe', async () => {
    using folder = new EmptyFolder();
    await using agent = await RecordingAgent.start({ answer: () => result(task('notes.txt')) });
    mkdirSync(join(folder.path, 'out'));
    execFileSync('mkfifo', [join(folder.path, 'out', 'notes.txt')]);
    for (const more of [[], ['--force']]) expect((await download(agent, folder, ...more)).code).toBe(1);
  });

  it('lose characters that reverse the text of their names', async () => {
    using folder = new EmptyFolder();
    await using agent = await RecordingAgent.start({ answer: () => result(task('invoice\u202efdp.exe')) });
    await download(agent, folder);
    expect(readdirSync(join(folder.path, 'out'))).toEqual(['invoice_fdp.exe']);
  });
});

it('-o json escapes control and bidirectional characters, without loss', async () => {
  const text = '\u009b31mred\u0085\u007f\u202eright\u2028to left \u001b]0;title\u0007 é 😀';
  const message = { messageId: 'm1', role: 'ROLE_AGENT', parts: [{ text }] };
  await using agent = await RecordingAgent.start({ answer: () => result({ message }) });
  for (const format of ['json', 'jsonl']) {
    const { stdout } = await parley(['send', 'x', '-a', agent.url, '-o', format]);
    expect(stdout).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}|\u2028/u);
    expect(JSON.parse(stdout)).toMatchObject({ message: { parts: [{ text }] } });
  }
});
