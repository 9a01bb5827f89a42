import { freePort, testPostgres, testRedis } from '@liminal/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { UpsertObject } from '@liminal/protocol';
import { type Command, eventually, Home, type Server } from './command.ts';

let home: Home;

beforeEach(() => {
  home = new Home();
});
afterEach(() => home.close());

const demo = (prompt: string, pace: 'normal' | 'fast' | 'instant' = 'instant') =>
  home.start(['run', prompt, '--agent', 'demo', '--set', `pace=${pace}`]);

const sessionOf = async (command: Command) => (await command.says(/^Session (\S+)$/m))[1]!;

describe('run without a server', () => {
  test('streams the answer to standard output, and the rest to standard error', async () => {
    const command = demo('fix');
    expect(await command.exitCode).toBe(0);
    expect(command.stdout).toMatch(/^Demo, recorded: /);
    expect(command.stdout).toMatch(/\.\n$/);
    expect(command.stdout).not.toContain('* Edit');
    expect(command.stderr).toContain('* Edit');
  });

  test('writes text as it comes', async () => {
    const command = demo('long', 'fast');
    await command.says(/Demo, recorded/);
    const early = command.stdout;
    expect(await command.exitCode).toBe(0);
    expect(command.stdout.startsWith(early)).toBe(true);
    expect(command.stdout.length).toBeGreaterThan(2 * early.length);
  });

  test('fails when the turn fails', async () => {
    const command = demo('error');
    expect(await command.exitCode).toBe(1);
    expect(command.stderr).toContain('! The turn failed: ');
  });

  test('rejects a permission request that nobody can answer, and says so', async () => {
    const command = demo('approve');
    expect(await command.exitCode).toBe(0);
    expect(command.stderr).toContain('Nobody is at the terminal to be asked, so this was rejected');
    expect(command.stdout).toContain('You refused it');
  });

  test('goes on with a session', async () => {
    const first = demo('explain');
    const sessionId = await sessionOf(first);
    expect(await first.exitCode).toBe(0);
    const second = home.start(['run', 'fix', '--session', sessionId]);
    expect(await second.exitCode).toBe(0);
    expect(await sessionOf(second)).toBe(sessionId);
    const tail = home.start(['tail', sessionId]);
    expect(await tail.exitCode).toBe(0);
    expect(tail.stdout).toContain('> explain\n');
    expect(tail.stdout).toContain('> fix\n');
  });

  test('stops the turn on SIGINT', async () => {
    const command = demo('slow', 'normal');
    await command.says(/Demo, recorded/);
    command.signal('SIGINT');
    expect(await command.exitCode).toBe(1);
    expect(command.stderr).toContain('! The turn was stopped.');
  });

  test.each([
    [['run', 'hi', '--agent', 'gemini'], 'gemini'],
    [['run', 'hi', '--agent', 'demo', '--dir', '/'], '/'],
    [['run', 'hi', '--agent', 'demo', '--dir', 'nowhere'], 'nowhere'],
    [['run', 'hi', '--session', 'nobody'], 'nobody'],
    [['run', 'hi', '--agent', 'demo', '--set', 'pace=never'], 'pace'],
    [['tail', 'nobody'], 'nobody'],
  ])('says in a sentence what is wrong with %j', async (args, named) => {
    const command = home.start(args);
    expect(await command.exitCode).toBe(1);
    expect(command.stdout).toBe('');
    expect(command.stderr).toContain(named);
    expect(command.stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('beside a server', () => {
  let server: Server;

  beforeEach(async () => {
    server = await home.serve();
  });

  const state = async (sessionId: string) => {
    const headers = { authorization: `Bearer ${server.token}` };
    const answer = await fetch(`${server.url}/api/session/${sessionId}/status`, { headers });
    return ((await answer.json()) as { state: string }).state;
  };

  test('run runs on it, and it goes on', async () => {
    const command = demo('explain');
    const sessionId = await sessionOf(command);
    expect(await command.exitCode).toBe(0);
    expect(await state(sessionId)).toBe('idle');
  });

  test('SIGINT stops the turn there, too', async () => {
    const command = demo('slow', 'normal');
    const sessionId = await sessionOf(command);
    await command.says(/Demo, recorded/);
    command.signal('SIGINT');
    expect(await command.exitCode).toBe(1);
    await eventually(() => state(sessionId)).toBe('idle');
  });

  test('tail follows a session as lines, until a signal', async () => {
    const run = demo('fix', 'fast');
    const tail = home.start(['tail', await sessionOf(run)]);
    await tail.says(/^> fix$/m);
    expect(await run.exitCode).toBe(0);
    await tail.says(/^\* Run /m);
    const later = home.start(['run', 'error', '--session', await sessionOf(run)]);
    expect(await later.exitCode).toBe(1);
    await tail.says(/! The turn failed/);
    tail.signal('SIGINT');
    expect(await tail.exitCode).toBe(0);
  });

  test('tail follows a session as JSON', async () => {
    const run = demo('plan');
    const tail = home.start(['tail', await sessionOf(run), '--json']);
    expect(await run.exitCode).toBe(0);
    await tail.says(/"type":"turn"/);
    const lines = tail.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string });
    expect(lines.at(-1)).toMatchObject({ type: 'turn', status: 'complete' });
    for (const line of lines.slice(0, -1)) expect(UpsertObject.parse(line)).toEqual(line);
    expect(lines[0]).toMatchObject({ type: 'message', origin: 'user', content: 'plan' });
    expect(lines.map((line) => line.type)).toContain('plan');
  });

  test('a command with another token is refused with a message', async () => {
    const command = home.start(['run', 'hi', '--agent', 'demo'], {
      LIMINAL_TOKEN: 'another-token',
    });
    expect(await command.exitCode).toBe(1);
    expect(command.stderr).toContain('token');
  });
});

describe('doctor', () => {
  test('says what can run, and why not', async () => {
    const command = home.start(['doctor', '--port', '0']);
    expect(await command.exitCode).toBe(0);
    expect(command.stdout).toMatch(/^ok {4}Node 24\./m);
    expect(command.stdout).toContain(`ok    Data folder ${home.data}`);
    expect(command.stdout).toMatch(/^ok {4}Agent demo: Demo$/m);
    expect(command.stdout).toMatch(/Agent claude-code: Claude Code/);
  });

  test('finds the server that runs', async () => {
    const { url } = await home.serve();
    const command = home.start(['doctor']);
    expect(await command.exitCode).toBe(0);
    expect(command.stdout).toContain(`A server runs at ${url}`);
  });

  test('fails when the server could not start', async () => {
    const command = home.start(['doctor', '--port', '0', '--data', '/dev/null/data']);
    expect(await command.exitCode).toBe(1);
    expect(command.stdout).toContain('FAIL  Data folder /dev/null/data');
  });

  test('reports the shared Redis and database, and what is wrong with them', async () => {
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
    const failing = home.start(['doctor', '--port', '0'], gone);
    expect(await failing.exitCode).toBe(1);
    expect(failing.stdout).toMatch(/^FAIL {2}Redis .*See that it runs/m);
    expect(failing.stdout).toMatch(/^FAIL {2}The database 127.* nothing listens there; start it/m);
    expect(failing.stdout).not.toContain('secret');
  });
});
