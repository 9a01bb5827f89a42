/** Tests how agents read and write an editor's buffers through Liminal. The buffers may contain unsaved text. */
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { AcpDriver } from '@liminal/agents/acp';
import { createModelDrivers } from '@liminal/agents/models';
import { type Act, calls, repliesWith, ScriptedClient } from '@liminal/agents/testing';
import { builtInTools } from '@liminal/agents/tools';
import { acpAgent, type Step } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { type EditorOptions, stage } from './editor.ts';

const fs = { readTextFile: true, writeTextFile: true };

/** Starts an editor in a project that contains `a.txt`, and a bare model that plays these acts one after another. */
async function withModel(...acts: Act[]) {
  const model = new ScriptedClient(acts);
  const servers = [{ name: 'openai', title: 'OpenAI', client: model, model: 'one' }];
  const provide = () => createModelDrivers({ servers, tools: builtInTools() })[0]!;
  const made = await stage({ files: { 'a.txt': 'saved\n' }, provide });
  const path = join(made.workspace.projectDir, 'a.txt');
  /** Returns the outputs of the model's calls, as the model received them. */
  const outputs = (): string[] =>
    model.requests
      .at(-1)!
      .conversation.flatMap((item) => (item.type === 'function_call_output' ? [item.output] : []));
  const told = (): string => outputs().join();
  const open = (text: string, options: EditorOptions = {}) =>
    made.editor({ capabilities: { fs }, buffers: new Map([[path, text]]), ...options });
  return { ...made, model, path, told, open };
}

const reading = calls(['read', { path: 'a.txt' }]);
/** Returns the same read as a call with another id. */
const again = calls(['list', {}], ['read', { path: 'a.txt' }]);
const editing = calls(['edit', { path: 'a.txt', oldText: 'unsaved', newText: 'changed' }]);

test('a bare model that reads a file gets the editor’s unsaved text', async () => {
  const { open, told, path, problems } = await withModel(reading, repliesWith('I see.'));
  const zed = await open('saved\nunsaved\n');
  const sessionId = await zed.create();
  await zed.prompt(sessionId, 'Read it.');
  expect(told()).toContain('     2\tunsaved');
  expect(zed.used).toEqual([`read ${path}`]);
  expect(problems).toEqual([]);
});

test('a bare model’s edit is made in the editor after a person has allowed the edit', async () => {
  const { open, told, path } = await withModel(editing, repliesWith('Done.'));
  const buffers = new Map([[path, 'saved\nunsaved\n']]);
  const zed = await open('', { buffers });
  const sessionId = await zed.create();
  await zed.prompt(sessionId, 'Edit it.');
  expect(told()).toBe('Changed a.txt in line 2.');
  expect(buffers.get(path)).toBe('saved\nchanged\n');
  expect(readFileSync(path, 'utf8')).toBe('saved\n');
});

test('an editor without file access gets no requests, and neither does an editor that has disconnected', async () => {
  const { open, told } = await withModel(
    reading,
    repliesWith('I see.'),
    again,
    repliesWith('I see.'),
  );
  const plain = await open('unsaved', { capabilities: {} });
  const sessionId = await plain.create();
  const zed = await open('unsaved in Zed');
  await zed.load(sessionId);
  await plain.prompt(sessionId, 'Read it.');
  expect(told()).toContain('unsaved in Zed');
  zed.leave();
  await plain.prompt(sessionId, 'Read it.');
  expect(told()).toContain('     1\tsaved');
  expect(plain.used).toEqual([]);
});

test('if two editors are attached, the agent reads from the editor that sent the prompt', async () => {
  const { open, told } = await withModel(
    reading,
    repliesWith('I see.'),
    again,
    repliesWith('I see.'),
  );
  const [one, two] = [await open('unsaved in one'), await open('unsaved in two')];
  const sessionId = await one.create();
  await two.load(sessionId);
  await one.prompt(sessionId, 'Read it.');
  expect(told()).toContain('unsaved in one');
  await two.prompt(sessionId, 'Read it.');
  expect(told()).toContain('unsaved in two');
});

test('if an editor disconnects during a read, the file is read from the disk and the turn continues', async () => {
  const { open, told, runtime } = await withModel(reading, repliesWith('I see.'));
  const zed = await open('unsaved', { beforeUse: (_, editor) => editor.leave() });
  const sessionId = await zed.create();
  await expect(zed.prompt(sessionId, 'Read it.')).rejects.toThrow('ACP connection closed');
  await expect.poll(async () => (await runtime.info(sessionId)).session.state).toBe('idle');
  expect(told()).toBe('     1\tsaved');
});

test('if an editor disconnects during a write, the model gets the error that the outcome is unknown', async () => {
  const { open, told, runtime, path } = await withModel(editing, repliesWith('I see.'));
  const zed = await open('unsaved', {
    beforeUse: (method, editor) => (method === 'write' ? editor.leave() : undefined),
  });
  const sessionId = await zed.create();
  await expect(zed.prompt(sessionId, 'Edit it.')).rejects.toThrow('ACP connection closed');
  await expect.poll(async () => (await runtime.info(sessionId)).session.state).toBe('idle');
  expect(told()).toMatch(/was written is not known: the editor did not say/);
  expect(readFileSync(path, 'utf8')).toBe('saved\n');
});

test('if an editor refuses to write, the model gets the editor’s message', async () => {
  const { open, told, path } = await withModel(editing, repliesWith('I see.'));
  const zed = await open('unsaved', {
    beforeUse: (method) => {
      if (method === 'write') throw new Error('The buffer is locked.');
    },
  });
  const sessionId = await zed.create();
  await zed.prompt(sessionId, 'Edit it.');
  expect(told()).toContain(`The editor did not write “${path}”`);
  expect(readFileSync(path, 'utf8')).toBe('saved\n');
});

test('if an editor has opened the project through a link, it gets paths through that link', async () => {
  const { editor, told, workspace } = await withModel(reading, repliesWith('I see.'));
  const link = join(workspace.home, 'link');
  symlinkSync(workspace.projectDir, link);
  const buffers = new Map([[join(link, 'a.txt'), 'unsaved']]);
  const zed = await editor({ capabilities: { fs }, buffers });
  const sessionId = await zed.create({ cwd: link });
  await zed.prompt(sessionId, 'Read it.');
  expect(told()).toContain('unsaved');
});

test('an ACP agent reads and writes through the editor, or on the disk if no editor is attached', async () => {
  const path = '{{cwd}}/a.txt';
  const read = { method: 'fs/read_text_file', params: { path, line: 2, limit: 1 }, as: 'read' };
  const content = '{{read.content}}!';
  const write = { method: 'fs/write_text_file', params: { path, content } };
  const steps: Step[] = [{ request: read }, { request: write }, { say: '{{read.content}}' }];
  const scripted = await acpAgent({ turns: [{ steps }] });
  onTestFinished(() => scripted.control.close());
  const { command, args, env } = scripted;
  const about = { cliType: 'scripted', name: 'Scripted', description: 'A scripted agent.' };
  const { editor, workspace } = await stage({
    files: { 'a.txt': 'one\nsaved\n' },
    provide: () => new AcpDriver({ ...about, command, args, env }),
  });
  const file = join(workspace.projectDir, 'a.txt');
  const buffers = new Map([[file, 'one\nunsaved\nthree']]);
  const zed = await editor({ capabilities: { fs }, buffers });
  const sessionId = await zed.create();

  await zed.prompt(sessionId, 'Copy.');
  expect(zed.agentText).toBe('unsaved');
  expect(zed.used).toEqual([`read ${file}`, `write ${file}`]);
  expect(buffers.get(file)).toBe('unsaved!');
  expect(readFileSync(file, 'utf8')).toBe('one\nsaved\n');

  zed.leave();
  const plain = await editor();
  await plain.load(sessionId);
  await plain.prompt(sessionId, 'Copy.');
  expect(plain.agentText).toBe('unsavedsaved');
  expect(readFileSync(file, 'utf8')).toBe('saved!');
});
