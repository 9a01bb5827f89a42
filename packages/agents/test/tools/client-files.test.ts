/** Tests files that are open in a client, such as an editor: agents work with the unsaved text. */
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ClientFiles } from '../../src/contract/client-files.ts';
import { editTool } from '../../src/own/tools/edit.ts';
import { readTool } from '../../src/own/tools/read.ts';
import { writeTool } from '../../src/own/tools/write.ts';
import { call, makeProject, refusal, nothingHidden } from './project.ts';

/** An editor that has these buffers open, by path. */
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

test('unsaved text is read from the editor, and a note says that it is unsaved', async () => {
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
    '     2\tunsaved\n(Lines 2 to 2 of 3. To read on, set offset to 3.)\n(This is the editor’s text: not all of it is saved.)',
  );
  const past = call(readTool(nothingHidden), project, { path: 'a.txt', offset: 9 }, { files });
  expect(await refusal(past)).toBe('“a.txt” has 3 lines: there is no line 9.');
});

test('a file that was never saved can be read, and a file that was emptied is empty', async () => {
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

test('a saved file is read from the disk, even if the editor has other line ends', async () => {
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

test('an edit searches the editor’s text, and changes only the editor’s text', async () => {
  const project = await makeProject();
  const path = project.write('a.txt', 'saved\n');
  const { files, buffers } = editor({ [path]: 'saved\nunsaved\n' });
  const edit = { path: 'a.txt', oldText: 'unsaved', newText: 'changed' };
  const { diffs } = await call(editTool(nothingHidden), project, edit, { files });
  expect(buffers.get(path)).toBe('saved\nchanged\n');
  expect(project.read('a.txt')).toBe('saved\n');
  expect(diffs).toMatchObject([{ oldText: 'saved\nunsaved\n', newText: 'saved\nchanged\n' }]);
});

test('if the editor only offers reading, an edit also writes the editor’s unsaved text to the disk', async () => {
  const project = await makeProject();
  const path = project.write('a.txt', 'saved\n');
  const { files } = editor({ [path]: 'saved\nunsaved\n' }, { writes: false });
  const edit = { path: 'a.txt', oldText: 'unsaved', newText: 'changed' };
  await call(editTool(nothingHidden), project, edit, { files });
  expect(project.read('a.txt')).toBe('saved\nchanged\n');
});

test('a whole file is written by the editor, after the file’s folder was created', async () => {
  const project = await makeProject();
  const { files, buffers } = editor({});
  const write = { path: 'src/new.txt', content: 'new\n' };
  await call(writeTool(nothingHidden), project, write, { files });
  expect(buffers.get(join(project.dir, 'src/new.txt'))).toBe('new\n');
  expect(existsSync(join(project.dir, 'src'))).toBe(true);
});

test('a whole file is not written if text was typed after the question', async () => {
  const project = await makeProject();
  const path = project.write('a.txt', 'saved\n');
  const { files, buffers } = editor({ [path]: 'saved\n' });
  const tool = writeTool(nothingHidden);
  const input = tool.input.parse({ path: 'a.txt', content: 'mine\n' });
  await tool.describe(input, project.folders, files);
  buffers.set(path, 'saved\ntyped\n');
  const { signal } = new AbortController();
  const context = { projectDir: project.dir, files, signal, print: () => undefined };
  expect(await refusal(tool.run(input, context))).toContain('has changed since this was asked for');
  expect(buffers.get(path)).toBe('saved\ntyped\n');
});

test('if the editor refuses to write, the call returns the reason, and the file on the disk does not change', async () => {
  const project = await makeProject();
  project.write('a.txt', 'saved\n');
  const files: ClientFiles = {
    read: async () => undefined,
    write: async () => {
      throw new Error('The outcome of the write is unknown.');
    },
  };
  const write = { path: 'a.txt', content: 'mine\n' };
  expect(await refusal(call(writeTool(nothingHidden), project, write, { files }))).toBe(
    'The outcome of the write is unknown.',
  );
  expect(project.read('a.txt')).toBe('saved\n');
});

test('SAFE: an editor never gets requests for files outside of the project, or for files of git', async () => {
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
