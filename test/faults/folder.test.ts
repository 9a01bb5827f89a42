import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { firstOf, testAtLength } from '@liminal/testkit/at-length';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { LiminalServer } from '../e2e/server.ts';
import { refusedStart } from './refused-start.ts';
import { FaultServer } from './server.ts';

let home: string;
/** A data folder in the state in which a server left it. */
let used: string;

beforeAll(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'liminal-folder-')));
  used = join(home, 'used');
  const server = await LiminalServer.start({ dataDir: used, env: environment() });
  expect(await server.stop()).toBe(0);
});
afterAll(async () => rm(home, { recursive: true, force: true }));

function environment(): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: home };
}

/** Overwrites a database after its first page. The first page contains the list of all tables. */
function damage(path: string): void {
  writeFileSync(path, readFileSync(path).fill('damaged ', 4096));
}

const unusable: [fault: string, spoil: (dataDir: string) => void, says: RegExp][] = [
  ['is a file', (dir) => replace(dir, 'file'), /EEXIST/],
  ['cannot be written', (dir) => replaceByLink(dir, '/sys/kernel'), /EPERM|EACCES|EROFS/],
  [
    'has a database that was cut off',
    (dir) => truncateSync(join(dir, 'liminal.db'), 5_000),
    /damaged; restore it/,
  ],
  [
    'was written by a newer version',
    (dir) => makeNewer(join(dir, 'liminal.db')),
    /newer Liminal.*Update/,
  ],
  ['is a link to nothing', (dir) => replaceByLink(dir, 'nowhere'), /ENOENT|EEXIST/],
  [
    'has a folder in place of its database',
    (dir) => replace(join(dir, 'liminal.db'), 'folder'),
    /unable to open/,
  ],
  [
    'has a folder in place of its lock',
    (dir) => replace(join(dir, 'liminal.lock'), 'folder'),
    /unable to open/,
  ],
  ['has a folder in place of its token', (dir) => replace(join(dir, 'token'), 'folder'), /EISDIR/],
  [
    'has a folder in place of server.json',
    (dir) => replace(join(dir, 'server.json'), 'folder'),
    /EISDIR/,
  ],
  [
    'has a file in place of the list of its servers',
    (dir) => replace(join(dir, 'servers'), 'file'),
    /EEXIST/,
  ],
  ['has a pipe in place of its token', (dir) => replaceByPipe(join(dir, 'token')), /not a file/],
  [
    'has a pipe in place of the list of browsers that signed out',
    (dir) => replaceByPipe(join(dir, 'signed-out.json')),
    /not a file/,
  ],
  ['has an endless token', (dir) => replaceByLink(join(dir, 'token'), '/dev/zero'), /not a file/],
  [
    'has a token of a gigabyte',
    (dir) => truncateSync(join(dir, 'token'), 2 ** 30),
    /larger than 16 MiB/,
  ],
  [
    'has an empty database with its write-ahead log',
    (dir) => {
      truncateSync(join(dir, 'liminal.db'));
      writeFileSync(join(dir, 'liminal.db-wal'), 'last words');
    },
    /missing or empty.*Restore/,
  ],
  [
    'has the database of another program',
    (dir) => replaceDatabase(join(dir, 'liminal.db')),
    /another program\. Move it away/,
  ],
  [
    'has a database that is not a database',
    (dir) => writeFileSync(join(dir, 'liminal.db'), 'no database '.repeat(999)),
    /move it away/,
  ],
  [
    'has a database that is damaged inside',
    (dir) => damage(join(dir, 'liminal.db')),
    /damaged; restore it/,
  ],
];

describe('a data folder that cannot be used is rejected with a reason, and not changed', () => {
  test.concurrent.each(firstOf(4, unusable))('if the folder %s', async (fault, spoil, says) => {
    const dataDir = join(home, fault.replaceAll(' ', '-'));
    cpSync(used, dataDir, { recursive: true });
    spoil(dataDir);
    const before = contents(dataDir);
    const { exitCode, stdout, stderr } = await refusedStart(dataDir, home);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).toContain(dataDir);
    expect(stderr).toMatch(says);
    expect(contents(dataDir)).toEqual(before);
  });
});

testAtLength(
  'if a data folder is in use, this is recognised under every path of the folder, and the server that uses it is not disturbed',
  async () => {
    const faults = await FaultServer.start();
    const { root, dataDir } = faults.folders;
    const sessionId = await faults.create('demo');
    const link = join(root, 'link');
    symlinkSync(dataDir, link);
    for (const name of [link, join(root, 'home', '..', 'data'), `${dataDir}/`]) {
      const { exitCode, stderr } = await refusedStart(name, root);
      expect(exitCode).toBe(1);
      expect(stderr).toContain(`${faults.server.origin}/?code=`);
      expect(stderr).toContain(`process ${faults.server.pid}`);
    }
    expect((await faults.requests.status(sessionId)).sessionId).toBe(sessionId);
  },
);

test('if several servers start at the same time on a new data folder, exactly one of them gets the folder', async () => {
  const dataDir = join(home, 'contended');
  const starts = await Promise.allSettled(
    Array.from({ length: 3 }, async () => LiminalServer.start({ dataDir, env: environment() })),
  );
  const started = starts.filter((start) => start.status === 'fulfilled');
  onTestFinished(async () => {
    for (const { value } of started) await value.stop();
  });
  expect(started).toHaveLength(1);
  for (const { reason } of starts.filter((start) => start.status === 'rejected')) {
    expect(String(reason)).toMatch(/ended with 1 .*\n.*(already runs on|is using) the data folder/);
  }
});

/** Returns the contents of the folder's files, without the files that opening a database creates. */
function contents(path: string): Record<string, string> {
  if (!lstatSync(path).isDirectory()) return { [path]: 'no folder' };
  const files = readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !/-wal$|-shm$|\.lock$/.test(entry.name))
    .map(({ name }) => name);
  return Object.fromEntries(
    files.map((name) => [name, hash('sha256', readFileSync(join(path, name)))]),
  );
}

function replace(path: string, by: 'file' | 'folder'): void {
  rmSync(path, { recursive: true, force: true });
  if (by === 'file') writeFileSync(path, '');
  else mkdirSync(path);
}

function replaceByLink(path: string, target: string): void {
  rmSync(path, { recursive: true });
  symlinkSync(target, path);
}

function replaceByPipe(path: string): void {
  rmSync(path, { force: true });
  execFileSync('mkfifo', [path]);
}

function replaceDatabase(path: string): void {
  rmSync(path);
  const database = new DatabaseSync(path);
  database.exec('CREATE TABLE bookmarks (url TEXT)');
  database.close();
}

function makeNewer(path: string): void {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA user_version = 9999');
  database.close();
}
