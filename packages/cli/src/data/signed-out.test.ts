import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCredentials } from '@liminal/server';
import { openSharedMemoryStorage } from '@liminal/storage/memory';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { shareSignedOut } from './shared-signed-out.ts';
import { openSignedOut } from './signed-out.ts';

const folders: string[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'liminal-signed-out-'));
  folders.push(folder);
  return folder;
};
afterEach(() => {
  vi.useRealTimers();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Opens a server's sign-outs. Returns functions that sign a browser in, sign it out, and check its cookie. */
function open(dataDir: string) {
  const signedOut = openSignedOut(dataDir);
  const credentials = createCredentials('token', signedOut);
  return {
    signedOut,
    signIn: () => credentials.newDevice().cookie,
    signOut: (cookie: string) => signedOut.add(credentials.deviceOf(cookie)!),
    isIn: (cookie: string) => credentials.deviceOf(cookie) !== undefined,
  };
}

describe('sign-outs of a data folder', () => {
  test('sign-outs of one browser and of all browsers survive a restart', () => {
    const dataDir = newFolder();
    const first = open(dataDir);
    const [one, other] = [first.signIn(), first.signIn()];
    first.signOut(one);
    const second = open(dataDir);
    expect([second.isIn(one), second.isIn(other)]).toEqual([false, true]);
    second.signedOut.addAll();
    const third = open(dataDir);
    expect([third.isIn(one), third.isIn(other), third.isIn(third.signIn())]).toEqual([
      false,
      false,
      true,
    ]);
  });

  test.each([-3_600_000, 3_600_000, 400 * 86_400_000])(
    'a sign-out of every browser takes effect even if the clock is %d ms off',
    (wrong) => {
      const server = open(newFolder());
      const now = Date.now();
      vi.useFakeTimers({ toFake: ['Date'], now });
      const before = server.signIn();
      vi.setSystemTime(now + wrong);
      const during = server.signIn();
      server.signedOut.addAll();
      const later = server.signIn();
      vi.setSystemTime(now + 1_000);
      expect([before, during, later, server.signIn()].map(server.isIn)).toEqual([
        false,
        false,
        true,
        true,
      ]);
    },
  );

  test.each([
    ['before the year 2000, as on a machine without a battery', Date.UTC(1970, 0, 2), 0],
    ['in 2100', 0, Date.UTC(2100, 0, 1)],
  ])('sign-outs take effect whatever the clock shows: %s', (_, atSignIn, atSignOut) => {
    const dataDir = newFolder();
    const server = open(dataDir);
    const now = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: atSignIn || now });
    const [one, other, third] = [server.signIn(), server.signIn(), server.signIn()];
    vi.setSystemTime(now);
    server.signOut(one);
    vi.setSystemTime(atSignOut || now);
    server.signOut(other);
    expect([one, other, third].map(server.isIn)).toEqual([false, false, true]);
    expect([one, other, third].map(open(dataDir).isIn)).toEqual([false, false, true]);
  });

  test('sign-out number 10,001 signs out every browser, so that the file stays small', () => {
    const dataDir = newFolder();
    const ids = Array.from({ length: 10_000 }, (_, count) => `0~0~${count}`);
    writeFileSync(
      join(dataDir, 'signed-out.json'),
      JSON.stringify({ generation: 0, devices: ids }),
    );
    const server = open(dataDir);
    const [one, other] = [server.signIn(), server.signIn()];
    server.signOut(one);
    expect([one, other, server.signIn()].map(server.isIn)).toEqual([false, false, true]);
    expect(server.signedOut.text).toBe('{"generation":1,"devices":[]}');
  });

  test.each(['', '{', '{"before":1,"devices":[]}', '{"generation":-1,"devices":[]}'])(
    'an invalid file (%j) signs out every browser that signed in earlier, but no browser that signs in later',
    (text) => {
      const dataDir = newFolder();
      const cookie = open(dataDir).signIn();
      writeFileSync(join(dataDir, 'signed-out.json'), text);
      const server = open(dataDir);
      expect(server.isIn(cookie)).toBe(false);
      const later = server.signIn();
      expect(open(dataDir).isIn(later)).toBe(true);
      server.signOut(server.signIn());
      expect(open(dataDir).isIn(later)).toBe(true);
    },
  );
});

describe('servers that share a Redis', () => {
  let servers: ReturnType<typeof open>[];
  let board: ReturnType<typeof openSharedMemoryStorage>['coordination']['board'];
  const joinServers = async (dataDir = newFolder()) => {
    const server = open(dataDir);
    await shareSignedOut(server.signedOut, board, (error) => {
      throw error;
    });
    return server;
  };

  beforeEach(async () => {
    ({ board } = openSharedMemoryStorage().coordination);
    servers = [await joinServers(), await joinServers()];
  });

  test('servers on one Redis share sign-outs, also with servers that start later', async () => {
    const [a, b] = servers;
    const [one, other] = [a!.signIn(), b!.signIn()];
    expect([b!.isIn(one), a!.isIn(other)]).toEqual([true, true]);
    a!.signOut(one);
    await expect.poll(() => b!.isIn(one)).toBe(false);
    b!.signedOut.addAll();
    await expect.poll(() => a!.isIn(other)).toBe(false);
    const later = a!.signIn();
    const late = await joinServers();
    expect([late.isIn(one), late.isIn(other), late.isIn(later)]).toEqual([false, false, true]);
    await expect.poll(() => b!.isIn(late.signIn())).toBe(true);
  });

  test('a server that connects to the Redis later shares its earlier sign-outs', async () => {
    const [a] = servers;
    const dataDir = newFolder();
    const alone = open(dataDir);
    const [one, other] = [a!.signIn(), a!.signIn()];
    alone.signOut(one);
    await joinServers(dataDir);
    await expect.poll(() => a!.isIn(one)).toBe(false);
    expect(a!.isIn(other)).toBe(true);
  });
});
