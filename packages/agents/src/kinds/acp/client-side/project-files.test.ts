import { execFileSync } from 'node:child_process';
import {
  constants,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, open, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HiddenFolders } from '../../../base/hidden-folders.ts';
import { ProjectFiles } from './project-files.ts';

let root: string;
let project: string;
let files: ProjectFiles;

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'liminal-files-')));
  project = join(root, 'project');
  mkdirSync(join(project, 'src'), { recursive: true });
  writeFileSync(join(project, 'notes.txt'), 'one\ntwo\nthree\nfour\n');
  writeFileSync(join(root, 'secret.txt'), 'secret');
  files = new ProjectFiles(project);
});
afterEach(() => rm(root, { recursive: true, force: true }));

const refused = { rpcCode: -32602, message: expect.stringMatching(/\w/) };

describe('reading', () => {
  test.each([
    [{}, 'one\ntwo\nthree\nfour\n'],
    [{ line: 2 }, 'two\nthree\nfour\n'],
    [{ line: 2, limit: 2 }, 'two\nthree'],
    [{ limit: 1 }, 'one'],
    [{ line: null, limit: null }, 'one\ntwo\nthree\nfour\n'],
    [{ line: 99 }, ''],
    [{ limit: 0 }, ''],
  ])('reading returns the lines that %j asks for', async (range, content) => {
    expect(await files.read({ path: join(project, 'notes.txt'), ...range })).toEqual({ content });
  });

  test.each(['missing.txt', 'no/folder/missing.txt', 'notes.txt/missing.txt'])(
    'reading a file reports %s as missing, by the protocol’s code and by the words that agents search for',
    async (name) => {
      const path = join(project, name);
      const error: unknown = await files.read({ path }).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ rpcCode: -32002, data: { uri: path } });
      for (const word of ['Resource not found', 'ENOENT', 'No such file', 'does not exist', path]) {
        expect(error).toHaveProperty('message', expect.stringContaining(word));
      }
    },
  );

  test('reading refuses folders, pipes, large files and binary files, each with its own reason', async () => {
    const pipe = join(project, 'pipe');
    execFileSync('mkfifo', [pipe]);
    writeFileSync(join(project, 'huge'), Buffer.alloc(16 * 1024 * 1024 + 1));
    writeFileSync(join(project, 'image'), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff]));
    writeFileSync(join(project, 'zero'), 'a\0b');
    for (const [path, reason] of [
      [join(project, 'src'), 'is a folder'],
      [pipe, 'is not a file'],
      [join(project, 'huge'), 'is larger than 16 MiB'],
      [join(project, 'image'), 'is not a text file'],
      [join(project, 'zero'), 'is not a text file'],
      [join(root, 'secret.txt'), 'is not a file inside the project folder'],
    ] as const) {
      const error: unknown = await files.read({ path }).catch((one: unknown) => one);
      expect(error, path).toMatchObject(refused);
      expect(error).toHaveProperty('message', expect.stringContaining(reason));
      // If the agent thought that the file was missing, it would create the file.
      expect(String(error)).not.toMatch(/ENOENT|No such file|does not exist|Resource not found/i);
    }
  });

  test('reading returns every UTF-8 character, and only bytes of the file', async () => {
    const text = '\uFEFFä€😀\r\n';
    writeFileSync(join(project, 'odd.txt'), text);
    expect(await files.read({ path: join(project, 'odd.txt') })).toEqual({ content: text });
  });
});

describe('writing', () => {
  test('writing creates the file and its folders, and truncates a longer file', async () => {
    const path = join(project, 'a/b/new.txt');
    await files.write({ path, content: 'long content' });
    expect(await files.write({ path, content: 'short' })).toEqual({});
    expect(readFileSync(path, 'utf8')).toBe('short');
  });

  test('writing reports why a file cannot be created', async () => {
    for (const [name, reason] of [
      ['src', 'is a folder'],
      ['notes.txt/new.txt', 'The folder of'],
      ['notes.txt/deep/new.txt', 'The folder of'],
    ] as const) {
      const written = files.write({ path: join(project, name), content: 'x' });
      await expect(written).rejects.toMatchObject({
        rpcCode: -32602,
        message: expect.stringContaining(reason),
      });
    }
  });

  test('writing refuses a pipe, even if the pipe has a reader', async () => {
    const path = join(project, 'pipe');
    execFileSync('mkfifo', [path]);
    const reader = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const message = expect.stringContaining('is not a file');
      await expect(files.write({ path, content: 'x' })).rejects.toMatchObject({
        ...refused,
        message,
      });
    } finally {
      await reader.close();
    }
  });

  test('writing refuses content that is too large, and does not change the file', async () => {
    const path = join(project, 'notes.txt');
    const content = 'x'.repeat(16 * 1024 * 1024 + 1);
    await expect(files.write({ path, content })).rejects.toMatchObject(refused);
    expect(readFileSync(path, 'utf8')).toContain('one');
  });
});

describe('paths', () => {
  test.each([
    ['that is relative', 'notes.txt'],
    ['of another folder', '{root}/secret.txt'],
    ['that climbs out', '{root}/project/../secret.txt'],
    ['of the project folder itself', '{root}/project'],
    ['of a folder whose name begins like the project’s', '{root}/project-2/file.txt'],
    ['through a linked folder', '{root}/project/way-out/secret.txt'],
    ['of a linked file', '{root}/project/link.txt'],
    ['of a link that leads nowhere', '{root}/project/nowhere.txt'],
    ['below a link that leads nowhere', '{root}/project/nowhere.txt/file.txt'],
    ['with a zero byte', '{root}/project/a\0b'],
    ['that is too long', `{root}/project/${'a/'.repeat(100_000)}b`],
  ])('a path %s is refused', async (_name, template) => {
    symlinkSync(root, join(project, 'way-out'));
    symlinkSync(join(root, 'secret.txt'), join(project, 'link.txt'));
    symlinkSync(join(root, 'not-there.txt'), join(project, 'nowhere.txt'));
    const path = template.replace('{root}', root);

    await expect(files.read({ path })).rejects.toMatchObject(refused);
    await expect(files.write({ path, content: 'overwritten' })).rejects.toMatchObject(refused);

    expect(readFileSync(join(root, 'secret.txt'), 'utf8')).toBe('secret');
  });

  test('a path through links that stay inside the project is accepted, and a name that begins with two dots is accepted', async () => {
    symlinkSync(join(project, 'src'), join(project, 'source'));
    await files.write({ path: join(project, 'source/..odd'), content: 'fine' });
    expect(readFileSync(join(project, 'src/..odd'), 'utf8')).toBe('fine');
    await files.write({ path: join(project, '..odd'), content: 'fine, too' });
    expect(readFileSync(join(project, '..odd'), 'utf8')).toBe('fine, too');
  });

  test('a path inside the project is accepted even if the project folder itself is a link', async () => {
    symlinkSync(project, join(root, 'linked'));
    const linked = new ProjectFiles(join(root, 'linked'));
    expect(await linked.read({ path: join(root, 'linked/notes.txt'), limit: 1 })).toEqual({
      content: 'one',
    });
  });
});

describe('hidden folders', () => {
  test.each([
    ['by its path', 'data/token'],
    ['by a path with dots', 'src/../data/token'],
    ['by a link', 'link'],
    ['by a linked folder', 'folder/token'],
    ['by a hard link', 'hard'],
    ['that does not exist', 'data/deep/new'],
  ])(
    'SAFE: a file of a hidden folder is neither read nor written, nor offered to a client: %s',
    async (_name, path) => {
      const data = join(project, 'data');
      mkdirSync(data);
      writeFileSync(join(data, 'token'), 'secret');
      symlinkSync(join(data, 'token'), join(project, 'link'));
      symlinkSync(data, join(project, 'folder'));
      linkSync(join(data, 'token'), join(project, 'hard'));
      const asked: string[] = [];
      const opened = {
        read: async (where: string) => void asked.push(where),
        write: async (where: string) => asked.push(where) > 0,
      };
      for (const clients of [undefined, opened]) {
        const hiddenFolders = new HiddenFolders([data]);
        const hiding = new ProjectFiles(project, { clients, hiddenFolders });
        const target = { path: join(project, path) };
        await expect(hiding.read(target)).rejects.toMatchObject(refused);
        await expect(hiding.write({ ...target, content: 'mine' })).rejects.toMatchObject(refused);
      }
      expect(readFileSync(join(data, 'token'), 'utf8')).toBe('secret');
      expect(readdirSync(data)).toEqual(['token']);
      expect(asked).toEqual([]);
    },
  );
});

describe('files that a client has open', () => {
  test('the client that has a file open reads the requested lines, and writes the file', async () => {
    const path = join(project, 'notes.txt');
    const asked: unknown[] = [];
    const written = new Map<string, string>();
    const shared = new ProjectFiles(project, {
      clients: {
        read: async (...what) => {
          asked.push(what);
          return 'unsaved';
        },
        write: async (where, text) => Boolean(written.set(where, text)),
      },
    });
    expect(await shared.read({ path, line: 2, limit: 1 })).toEqual({ content: 'unsaved' });
    expect(asked).toEqual([[path, { line: 2, limit: 1 }]]);
    expect(await shared.write({ path, content: 'new' })).toEqual({});
    expect(written).toEqual(new Map([[path, 'new']]));
    expect(readFileSync(path, 'utf8')).toBe('one\ntwo\nthree\nfour\n');
    await expect(shared.read({ path: join(root, 'secret.txt') })).rejects.toMatchObject(refused);
    expect(asked).toHaveLength(1);
  });

  test('if no client can read and write files, the disk is used; a client’s refusal is quoted', async () => {
    const path = join(project, 'notes.txt');
    const none = { read: async () => undefined, write: async () => false };
    const closed = new ProjectFiles(project, { clients: none });
    expect(await closed.read({ path, limit: 1 })).toEqual({ content: 'one' });
    await closed.write({ path, content: 'new' });
    expect(readFileSync(path, 'utf8')).toBe('new');
    const write = async () => {
      throw new Error('It is locked.');
    };
    const locked = new ProjectFiles(project, { clients: { ...none, write } });
    await expect(locked.write({ path, content: 'x' })).rejects.toMatchObject({
      rpcCode: -32603,
      message: 'It is locked.',
    });
    expect(readFileSync(path, 'utf8')).toBe('new');
  });
});
