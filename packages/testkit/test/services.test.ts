import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startPostgres, startRedis } from '../src/index.ts';

/** Sends a message over a new connection. Resolves with the server's answer. */
async function ask(port: number, message: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write(message);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  return answer.toString('latin1');
}

/** Resolves with whether a server listens on the port. */
async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  });
}

/**
 * The message with which a client of PostgreSQL first asks whether the server requires TLS. The servers of these tests
 * answer no.
 */
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

describe('a Redis of a test', () => {
  test('a Redis of a test keeps its data when it is killed and started again', async () => {
    const redis = await startRedis({ appendOnly: true });
    onTestFinished(async () => redis.stop());
    expect(await ask(redis.port, 'SET a 1\r\n')).toBe('+OK\r\n');
    await redis.kill();
    expect(await listens(redis.port)).toBe(false);
    await redis.restart();
    expect(await ask(redis.port, 'GET a\r\n')).toBe('$1\r\n1\r\n');
  });

  test('if a Redis of a test does not start, the error says why', async () => {
    const started = startRedis({ settings: { maxmemory: 'nonsense' } });
    await expect(started).rejects.toThrow(/did not start: [^]*maxmemory/);
  });
});

test('a PostgreSQL of a test can be killed, started again, and stopped', async () => {
  const postgres = await startPostgres();
  expect(await ask(postgres.port, sslRequest)).toBe('N');
  await postgres.kill();
  expect(await listens(postgres.port)).toBe(false);
  await postgres.restart();
  expect(await ask(postgres.port, sslRequest)).toBe('N');
  await postgres.stop();
  expect(await listens(postgres.port)).toBe(false);
});

test('when the process that started a server ends, the server ends and its folder is deleted', async () => {
  const services = new URL('../src/services/redis.ts', import.meta.url).href;
  const script = `
    const { startRedis } = await import(${JSON.stringify(services)});
    console.log((await startRedis()).port);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const port = Number((await lines.next()).value);
  const folder = /\$\d+\r\n(\/[^\r]+)/.exec(await ask(port, 'CONFIG GET dir\r\n'))?.[1] ?? '';
  expect(existsSync(folder)).toBe(true);
  child.kill('SIGKILL');
  await expect.poll(async () => listens(port), { timeout: 20_000 }).toBe(false);
  await expect.poll(() => existsSync(folder), { timeout: 20_000 }).toBe(false);
});
