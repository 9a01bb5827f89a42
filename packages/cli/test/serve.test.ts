import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { clientOf, type Command, eventually, Home } from './command.ts';

let home: Home;

beforeEach(() => {
  home = new Home();
});
afterEach(() => home.close());

const mode = (name: string) => statSync(join(home.data, name)).mode & 0o777;

/** Ends a server. Checks that the server exits with 0, that its guard ends, and that its record is removed. */
async function endsInOrder(command: Command, signal: NodeJS.Signals): Promise<void> {
  const guards = childrenOf(command.pid);
  command.signal(signal);
  expect(await command.exitCode).toBe(0);
  expect(existsSync(join(home.data, 'server.json'))).toBe(false);
  await eventually(() => guards.filter(isAlive)).toEqual([]);
}

describe('serve', () => {
  test('the server prints one line with the link even if no command is given, hides secrets from other users, and ends in an orderly way on SIGINT; a second server reports the address of the first, or that the port is in use', async () => {
    const command = home.start(['--port', '0', '--no-open']);
    const [, link = ''] = await command.untilOutput(/Liminal is at (\S+)/);
    expect(link).toContain('/?code=');
    expect(command.stdout).toBe(`Liminal is at ${link}\n`);
    const { hostname, origin, port } = new URL(link);
    expect(hostname).toBe('127.0.0.1');
    const answer = await fetch(link, { redirect: 'manual', headers: { accept: 'text/html' } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('set-cookie')).toContain('HttpOnly');
    expect((await fetch(origin)).status).toBe(401);
    expect(statSync(home.data).mode & 0o777).toBe(0o700);
    for (const name of ['token', 'server.json', 'liminal.db']) expect(mode(name)).toBe(0o600);

    const second = home.start(['serve', '--port', '0', '--no-open']);
    expect(await second.exitCode).toBe(1);
    expect(second.stdout).toBe('');
    const [another = ''] = /http:\S+/.exec(second.stderr) ?? [];
    expect(another).not.toBe(link);
    expect((await fetch(another)).status).toBe(200);
    expect(second.stderr.trimEnd().split('\n')).toHaveLength(1);

    const other = new Home();
    const third = other.start(['serve', '--port', port, '--no-open']);
    expect(await third.exitCode).toBe(1);
    expect(third.stderr).toBe(
      `Another program uses port ${port}. Stop it, or choose another port with --port.\n`,
    );
    await other.close();
    await endsInOrder(command, 'SIGINT');
  });

  test('after SIGTERM, the running turn continues and no other turn begins; a second signal ends the turn and reports the reason, and a third ends the process; token and data survive a restart, also after a kill', async () => {
    writeFileSync(join(home.folder, 'config.json'), '{"endLimitMs": 600000}');
    const first = await home.serve(['--config', '../config.json']);
    const run = home.start(['run', 'slow', '--agent', 'demo']);
    const [, sessionId = ''] = await run.untilOutput(/Session (\S+)/);
    const client = clientOf(first);
    await eventually(() => client.requests.status(sessionId)).toMatchObject({ state: 'running' });
    first.command.signal('SIGTERM');
    await first.command.untilOutput(/Turns are still running: they have 600 s to finish/);
    await expect(client.requests.send(sessionId, 'And now?')).rejects.toMatchObject({
      code: 'SHUTTING_DOWN',
      status: 503,
    });
    client.close();
    await endsInOrder(first.command, 'SIGTERM');
    expect(await run.exitCode).toBe(1);
    expect(run.stderr).toContain('! The turn failed: The server stopped while');

    const second = await home.serve();
    expect(second.token).toBe(first.token);
    const later = clientOf(second);
    expect(await later.requests.listProjects()).toMatchObject([{ projectDir: home.project }]);
    expect(await later.requests.history(sessionId)).toMatchObject({
      turns: [{ status: 'error', error: { code: 'SERVER_ENDED' } }],
    });
    later.close();

    await second.command.end('SIGKILL');
    expect(existsSync(join(home.data, 'server.json'))).toBe(true);
    const { command, url } = await home.serve();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const guards = childrenOf(command.pid);
    // Suspend the guard processes. Suspended processes cannot end, so an orderly end of the server would wait for them.
    for (const pid of guards) process.kill(pid, 'SIGSTOP');
    command.signal('SIGTERM');
    await eventually(() => existsSync(join(home.data, 'server.json'))).toBe(false);
    command.signal('SIGTERM');
    expect(await command.exitCode).toBe(guards.length > 0 ? 130 : 0);
    for (const pid of guards) process.kill(pid, 'SIGCONT');
    await eventually(() => guards.filter(isAlive)).toEqual([]);
  });

  test('the server uses the given token, writes the token to no log, passes the token to no child process, and ends in an orderly way on SIGHUP', async () => {
    writeFileSync(join(home.folder, 'config.json'), '{"logLevel": "debug"}');
    const env = { LIMINAL_TOKEN: 'given-by-a-variable' };
    const server = await home.serve(['--config', '../config.json'], env);
    const { command, link, token } = server;
    expect(token).toBe('given-by-a-variable');
    await fetch(link, { redirect: 'manual', headers: { accept: 'text/html' } });
    await command.untilOutput(/request completed/);
    expect(command.stderr).not.toContain(token);
    const children = childrenOf(command.pid);
    expect(children).toHaveLength(process.platform === 'linux' ? 1 : 0);
    for (const pid of children) {
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain(token);
    }
    await endsInOrder(command, 'SIGHUP');
  });
});

describe('a wrong command line or configuration ends with a sentence', () => {
  const alone = new Home();
  afterAll(() => alone.close());

  test.each([
    [['--prot', '1'], '--prot'],
    [['nonsense'], 'nonsense'],
    [['--port', 'abc'], '--port'],
    [['run'], 'prompt'],
    [['run', 'hi', '--set', 'pace'], '--set'],
    [['tail'], 'session’s id'],
    [['--config', 'nowhere.json'], 'nowhere.json'],
  ])('for %j', async (args, named) => {
    const { exitCode, stderr } = await alone.play(...args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(named);
    expect(stderr).not.toContain('    at ');
    expect(existsSync(alone.data)).toBe(false);
  });

  test('if the host can be reached from other machines, the host is refused', async () => {
    const args = ['serve', '--host', '0.0.0.0', '--port', '0', '--no-open'];
    const { exitCode, stderr } = await alone.play(...args);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('--insecure-host');
    expect(existsSync(join(alone.data, 'server.json'))).toBe(false);
  });

  test('an error about a wrong field contains the field and the file', async () => {
    const file = join(alone.folder, 'config.json');
    writeFileSync(file, '{"roots": "everything"}');
    const { exitCode, stderr } = await alone.play('--config', file);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`The configuration in ${file} is not valid. "roots"`);
  });

  test('help and version are not errors: both exit with 0', async () => {
    const help = home.start(['--help']);
    expect(await help.exitCode).toBe(0);
    expect(help.stdout).toContain('serve');
    const version = home.start(['--version']);
    expect(await version.exitCode).toBe(0);
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

/** Returns the process ids of the server's children. The only child is the guard. */
function childrenOf(pid: number): number[] {
  if (process.platform !== 'linux') return [];
  const tasks = readdirSync(`/proc/${pid}/task`);
  return tasks.flatMap((task) => {
    const children = readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8');
    return children.split(' ').filter(Boolean).map(Number);
  });
}

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}
