/** Files that a client has open, such as an editor: what it has not saved counts. */
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ClientFiles } from '../../src/client-files.ts';
import { editTool } from '../../src/tools/edit.ts';
import { readTool } from '../../src/tools/read.ts';
import { writeTool } from '../../src/tools/write.ts';
import { call, makeProject, refusal, nothingHidden } from './project.ts';

/** An editor with these buffers, by path. */
function editor(open: Record<string, string>, { writes = true } = {}) {
  const buffers = new Map(Object.entries(open));
  const asked: string[] = [];
  const files: ClientFiles = {
    read: async (path) => {
      asked.push(path);
      return buffers.get(path);
    },
    write: async (path, text) => {
      if (writes) buffers.set(path, text);
      return writes;
    },
  };
  return { files, buffers, asked };
}

test('a text that is not saved is read as the editor has it, and that is said', async () => {
  const project = await makeProject();
  const path = project.write('a.txt', 'saved\n');
  const { files } = editor({ [path]: 'one\nunsaved\nthree\n' });
  const { output } = await call(
    readTool(nothingHidden),
    project,
    { path: 'a.txt', offset: 2, limit: 1 },
    { files },
  );
  expect(output).toBe(
    '     2\tunsaved\n(Lines 2 to 2 of 3. To read on, set offset to 3.)\n(So the editor has it: not all of it is saved.)',
  );
  const past = call(readTool(nothingHidden), project, { path: 'a.txt', offset: 9 }, { files });
  expect(await refusal(past)).toBe('“a.txt” has 3 lines: there is no line 9.');
});

test('a text that was never saved is there, too; an emptied one is empty', async () => {
  const project = await makeProject();
  const fresh = join(project.dir, 'new.txt');
  const emptied = project.write('emptied.txt', 'saved\n');
  const { files } = editor({ [fresh]: 'unsaved\n', [emptied]: '' });
  const read = async (path: string) =>
    (await call(readTool(nothingHidden), project, { path }, { files })).output;
  expect(await read('new.txt')).toContain('unsaved');
  expect(await read('emptied.txt')).toContain('(The file is empty.)');
  expect(await refusal(read('missing.txt'))).toContain('does not exist');
});

test('a saved text is read from the disk, whatever line ends the editor has for it', async () => {
  const project = await makeProject();
  const path = project.write('a.txt', '\uFEFFone\r\ntwo\r\n');
  const { files } = editor({ [path]: 'one\ntwo\n' }, { writes: false });
  const { output } = await call(readTool(nothingHidden), project, { path: 'a.txt' }, { files });
  expect(output).not.toContain('not all of it is saved');
  await call(
    editTool(nothingHidden),
    project,
    { path: 'a.txt', oldText: 'two', newText: '2' },
    { files },
  );
  expect(project.read('a.txt')).toBe('\uFEFFone\r\n2\r\n');
});

test('an edit finds its text in the editor, and changes it there alone', async () => {
  const project = await makeProject();
  const path = project.write('a.txt', 'saved\n');
  const { files, buffers } = editor({ [path]: 'saved\nunsaved\n' });
  const edit = { path: 'a.txt', oldText: 'unsaved', newText: 'changed' };
  const { diffs } = await call(editTool(nothingHidden), project, edit, { files });
  expect(buffers.get(path)).toBe('saved\nchanged\n');
  expect(project.read('a.txt')).toBe('saved\n');
  expect(diffs).toMatchObject([{ oldText: 'saved\nunsaved\n', newText: 'saved\nchanged\n' }]);
});

test('where the editor only reads, what it had not saved is on the disk with the edit', async () => {
  const project = await makeProject();
  const path = project.write('a.txt', 'saved\n');
  const { files } = editor({ [path]: 'saved\nunsaved\n' }, { writes: false });
  const edit = { path: 'a.txt', oldText: 'unsaved', newText: 'changed' };
  await call(editTool(nothingHidden), project, edit, { files });
  expect(project.read('a.txt')).toBe('saved\nchanged\n');
});

test('a whole file is written by the editor, in a folder that is made for it', async () => {
  const project = await makeProject();
  const { files, buffers } = editor({});
  const write = { path: 'src/new.txt', content: 'new\n' };
  await call(writeTool(nothingHidden), project, write, { files });
  expect(buffers.get(join(project.dir, 'src/new.txt'))).toBe('new\n');
  expect(existsSync(join(project.dir, 'src'))).toBe(true);
});

test('a whole file is not written over what somebody typed since it was asked for', async () => {
  const project = await makeProject();
  const path = project.write('a.txt', 'saved\n');
  const { files, buffers } = editor({ [path]: 'saved\n' });
  const tool = writeTool(nothingHidden);
  const input = tool.input.parse({ path: 'a.txt', content: 'mine\n' });
  await tool.face(input, project.folders, files);
  buffers.set(path, 'saved\ntyped\n');
  const { signal } = new AbortController();
  const context = { projectDir: project.dir, files, signal, print: () => undefined };
  expect(await refusal(tool.run(input, context))).toContain('has changed since this was asked for');
  expect(buffers.get(path)).toBe('saved\ntyped\n');
});

test('an editor that does not write says why, and the disk stays as it is', async () => {
  const project = await makeProject();
  project.write('a.txt', 'saved\n');
  const files: ClientFiles = {
    read: async () => undefined,
    write: async () => {
      throw new Error('Whether it was written is not known.');
    },
  };
  const write = { path: 'a.txt', content: 'mine\n' };
  expect(await refusal(call(writeTool(nothingHidden), project, write, { files }))).toBe(
    'Whether it was written is not known.',
  );
  expect(project.read('a.txt')).toBe('saved\n');
});

test('SAFE: an editor is never asked for what lies outside of the project, or belongs to git', async () => {
  const project = await makeProject();
  symlinkSync(project.outside, join(project.dir, 'link'));
  const { files, asked, buffers } = editor({});
  for (const path of ['../outside/secret.txt', 'link/secret.txt', '/etc/hostname', '~/a']) {
    await refusal(call(readTool(nothingHidden), project, { path }, { files }));
    await refusal(call(writeTool(nothingHidden), project, { path, content: 'x' }, { files }));
    await refusal(
      call(editTool(nothingHidden), project, { path, oldText: 'a', newText: 'b' }, { files }),
    );
  }
  await refusal(
    call(writeTool(nothingHidden), project, { path: '.git/hooks/x', content: 'x' }, { files }),
  );
  expect(asked).toEqual([]);
  expect(buffers.size).toBe(0);
});
