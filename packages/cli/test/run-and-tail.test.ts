import { freePort, testPostgres, testRedis } from '@liminal/testkit';
import { partOf } from '@liminal/testkit/at-length';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LiminalClient } from '@liminal/client';
import { UpsertObject } from '@liminal/protocol';
import { clientOf, type Command, eventually, Home, type Server, talked } from './command.ts';

let home: Home;

const demo = (prompt: string, pace: 'normal' | 'fast' | 'instant' = 'instant') =>
  home.start(['run', prompt, '--agent', 'demo', '--set', `pace=${pace}`]);

const sessionOf = async (command: Command) => (await command.says(/^Session (\S+)$/m))[1]!;

describe('run without a server', () => {
  beforeAll(() => {
    home = new Home();
  });
  afterAll(() => home.close());

  test('streams the answer to standard output as it comes, and the rest to standard error; goes on with a session; fails when the turn fails', async () => {
    const first = demo('fix', 'fast');
    await first.says(/Demo, recorded/);
    const early = first.stdout;
    expect(await first.exitCode).toBe(0);
    expect(first.stdout.startsWith(early)).toBe(true);
    expect(first.stdout.length).toBeGreaterThan(2 * early.length);
    expect(first.stdout).toMatch(/^Demo, recorded: /);
    expect(first.stdout).toMatch(/\.\n$/);
    expect(first.stdout).not.toContain('* Edit');
    expect(first.stderr).toContain('* Edit');

    const sessionId = await sessionOf(first);
    const second = home.start(['run', 'error', '--session', sessionId, '--set', 'pace=instant']);
    expect(await second.exitCode).toBe(1);
    expect(second.stderr).toContain('! The turn failed: ');
    expect(await sessionOf(second)).toBe(sessionId);
    const tail = home.start(['tail', sessionId]);
    expect(await tail.exitCode).toBe(0);
    expect(tail.stdout).toContain('> fix\n');
    expect(tail.stdout).toContain('> error\n');
  });

  test('stops the turn on SIGINT', async () => {
    const command = demo('slow', 'normal');
    await command.says(/Demo, recorded/);
    command.signal('SIGINT');
    expect(await command.exitCode).toBe(1);
    expect(command.stderr).toContain('! The turn was stopped.');
  });
});

describe('beside a server', () => {
  let server: Server;
  let client: LiminalClient;

  beforeAll(async () => {
    home = new Home();
    server = await home.serve();
    client = clientOf(server);
  });
  afterAll(async () => {
    client.close();
    await home.close();
  });

  const state = async (sessionId: string) => (await client.requests.status(sessionId)).state;

  test('a run is one of its sessions, and a permission request that nobody can answer is rejected', async () => {
    const command = demo('approve');
    const sessionId = await sessionOf(command);
    expect(await command.exitCode).toBe(0);
    expect(command.stderr).toContain('Nobody is at the terminal to be asked, so this was rejected');
    expect(command.stdout).toContain('You refused it');
    expect(await state(sessionId)).toBe('idle');
  });

  const wrong = {
    'its agent': { named: 'gemini', args: ['run', 'hi', '--agent', 'gemini'] },
    'a folder it may not have': {
      named: '/',
      args: ['run', 'hi', '--agent', 'demo', '--dir', '/'],
    },
    'its folder': { named: 'nowhere', args: ['run', 'hi', '--agent', 'demo', '--dir', 'nowhere'] },
    'its session': { named: 'nobody', args: ['run', 'hi', '--session', 'nobody'] },
    'a setting': { named: 'pace', args: ['run', 'hi', '--agent', 'demo', '--set', 'pace=never'] },
    'the session to follow': { named: 'nobody', args: ['tail', 'nobody'] },
  };
  test.each(partOf(wrong, ['its folder', 'a setting', 'the session to follow']))(
    'a command that is wrong about %s says so in a sentence',
    async (_, { named, args }) => {
      const command = home.start(args);
      expect(await command.exitCode).toBe(1);
      expect(command.stdout).toBe('');
      expect(command.stderr).toContain(named);
      expect(command.stderr.trimEnd().split('\n')).toHaveLength(1);
    },
  );

  test('SIGINT stops the turn there, too', async () => {
    const command = demo('slow', 'normal');
    const sessionId = await sessionOf(command);
    await command.says(/Demo, recorded/);
    command.signal('SIGINT');
    expect(await command.exitCode).toBe(1);
    await eventually(() => state(sessionId)).toBe('idle');
  });

  test('tail follows a session as lines, until a signal, and as JSON', async () => {
    const sessionId = await talked(client, home.project, 'plan');
    const [tail, json] = [
      home.start(['tail', sessionId]),
      home.start(['tail', sessionId, '--json']),
    ];
    await tail.says(/^> plan$/m);
    await json.says(/"type":"turn"/);
    const lines = json.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string });
    expect(lines.at(-1)).toMatchObject({ type: 'turn', status: 'complete' });
    for (const line of lines.slice(0, -1)) expect(UpsertObject.parse(line)).toEqual(line);
    expect(lines[0]).toMatchObject({ type: 'message', origin: 'user', content: 'plan' });
    expect(lines.map((line) => line.type)).toContain('plan');

    await client.requests.send(sessionId, 'fix');
    await tail.says(/^> fix$/m);
    await tail.says(/^\* Run /m);
    await eventually(() => json.stdout.match(/"type":"turn"/g)?.length).toBe(2);
    await client.requests.send(sessionId, 'error');
    await tail.says(/! The turn failed/);
    tail.signal('SIGINT');
    json.signal('SIGINT');
    expect(await tail.exitCode).toBe(0);
    expect(await json.exitCode).toBe(0);
  });

  test('a command with another token is refused with a message', async () => {
    const command = home.start(['run', 'hi', '--agent', 'demo'], {
      LIMINAL_TOKEN: 'another-token',
    });
    expect(await command.exitCode).toBe(1);
    expect(command.stderr).toContain('token');
  });

  test('doctor says what can run, and why not, and finds the server that runs', async () => {
    const command = home.start(['doctor']);
    expect(await command.exitCode).toBe(0);
    expect(command.stdout).toMatch(/^ok {4}Node 24\./m);
    expect(command.stdout).toContain(`ok    Data folder ${home.data}`);
    expect(command.stdout).toContain(`A server runs at ${server.url}`);
    expect(command.stdout).toMatch(/^ok {4}Agent demo: Demo$/m);
    expect(command.stdout).toMatch(/Agent claude-code: Claude Code/);
  });
});

describe('doctor', () => {
  beforeAll(() => {
    home = new Home();
  });
  afterAll(() => home.close());

  test('reports the shared Redis and database, and fails when those or the data folder cannot be used', async () => {
    const [redis, database] = await Promise.all([testRedis(), testPostgres()]);
    const shared = { LIMINAL_REDIS_URL: redis.url, LIMINAL_DATABASE_URL: database.url };
    const command = home.start(['doctor', '--port', '0'], shared);
    expect(await command.exitCode).toBe(0);
    expect(command.stdout).toMatch(/^ok {4}(Redis|Valkey) [\d.]+, which the servers share$/m);
    expect(command.stdout).toMatch(/^ok {4}PostgreSQL [\d.]+, which the servers share$/m);
    expect(command.stdout).toMatch(/^note {2}\w+ [\d.]+: .*set appendonly to yes/m);
    await Promise.all([redis.release(), database.release()]);

    const port = await freePort();
    const gone = {
      LIMINAL_REDIS_URL: `redis://127.0.0.1:${port}`,
      LIMINAL_DATABASE_URL: `postgresql://u:secret@127.0.0.1:${port}/x`,
    };
    const failing = home.start(['doctor', '--port', '0', '--data', '/dev/null/data'], gone);
    expect(await failing.exitCode).toBe(1);
    expect(failing.stdout).toContain('FAIL  Data folder /dev/null/data');
    expect(failing.stdout).toMatch(/^FAIL {2}Redis .*See that it runs/m);
    expect(failing.stdout).toMatch(/^FAIL {2}The database 127.* nothing listens there; start it/m);
    expect(failing.stdout).not.toContain('secret');
  });
});
