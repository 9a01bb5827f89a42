/** Doctor starts each configured agent, asks it for its description, and stops it. */
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  acpAgent,
  type AcpAgent,
  type AgentScript,
  freePort,
  startChatCompletionsApi,
  testPostgres,
  testRedis,
} from '@liminal/testkit';
import { atLength } from '@liminal/testkit/at-length';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Home } from './command.ts';

let home: Home;
const agents: AcpAgent[] = [];

beforeEach(() => {
  home = new Home();
});
afterEach(async () => {
  await home.close();
  await Promise.all(agents.splice(0).map(({ control }) => control.close()));
});

async function scripted(script: AgentScript) {
  const agent = await acpAgent(script);
  agents.push(agent);
  const { command, args, env, control } = agent;
  return { control, entry: { command, args, env } };
}

test('doctor starts each configured agent, and reports the agent’s answer and the defaults that it lacks, or the reason why the agent cannot run', async () => {
  const modes = { currentModeId: 'ask', availableModes: [{ id: 'ask', name: 'Ask' }] };
  const [fits, picky, silent] = await Promise.all([
    scripted({ initialize: { authMethods: [{ id: 'key', name: 'Log in' }] }, outlivesStdin: true }),
    scripted({ session: { modes }, offers: { delete: true } }),
    scripted({ onStart: [{ raw: 'Type a question.' }, { silence: true }] }),
  ]);
  const config = {
    agents: {
      fits: fits.entry,
      picky: { ...picky.entry, defaults: { mode: 'code' } },
      // Doctor waits ten seconds for this agent; `introduction.test.ts` checks the same message.
      ...(atLength && { silent: silent.entry }),
      wrong: { command: 'sh', args: ['-c', 'echo "Usage: agent" >&2; exit 3'] },
    },
  };
  mkdirSync(home.data, { recursive: true });
  writeFileSync(join(home.data, 'liminal.json'), JSON.stringify(config));

  const command = home.start(['doctor', '--port', '0']);

  expect(await command.exitCode).toBe(0);
  const told = command.stdout
    .split('\n')
    .filter((line) => / Agent (fits|picky|silent|wrong): /.test(line));
  const answered =
    'It calls itself “Scripted agent”, speaks ACP 1, and can load sessions, list sessions, take images.';
  expect(told).toEqual([
    `ok    Agent fits: fits 1.0.0. ${answered} Ways to sign in: Log in.`,
    `note  Agent picky: picky 1.0.0. A default in the configuration was left out. “code” is not a value of “mode”. Values: ask. ${answered}`,
    ...[
      expect.stringMatching(
        /^note {2}Agent silent: silent is not set up\. The agent did not answer within 10 s\. .*--acp.* It said: Type a question\.$/,
      ),
    ].slice(0, atLength ? 1 : 0),
    'note  Agent wrong: wrong is not set up. The process exited with code 3. It said: Usage: agent.',
  ]);
  for (const { control } of atLength ? [fits, picky, silent] : [fits, picky])
    await (
      await control.process()
    ).gone;
  expect(fits.control.received.map(({ method }) => method)).toEqual(['initialize']);
});

test('doctor requests the list of models from each model server. If a request fails, doctor says what to do. It prints no key', async () => {
  const api = await startChatCompletionsApi({ script: [], models: ['a', 'b', 'c', 'd'] });
  const port = await freePort();
  const on = (baseUrl: string, more: object = {}) => ({ type: 'openai', baseUrl, ...more });
  const models = {
    here: on(api.url),
    other: on(api.url, { model: 'e' }),
    away: on(`http://127.0.0.1:${port}/v1`, { model: 'a' }),
    wrong: on(api.url.replace('/v1', '')),
    locked: on(api.url, { apiKeyEnv: 'LOCKED_KEY' }),
  };
  mkdirSync(home.data, { recursive: true });
  writeFileSync(join(home.data, 'liminal.json'), JSON.stringify({ models }));

  const command = home.start(['doctor', '--port', '0']);
  expect(await command.exitCode).toBe(0);
  await api.close();
  const speaks = 'It speaks OpenAI’s interface, and can answer as a, b, c, 1 more.';
  expect(
    command.stdout
      .split('\n')
      .filter((line) => / Agent (here|other|away|wrong|locked): /.test(line)),
  ).toEqual([
    `ok    Agent here: here. ${speaks}`,
    `note  Agent other: other. It does not list “e”, which the configuration names. ${speaks}`,
    `note  Agent away: away is not set up. The model’s server could not be reached at http://127.0.0.1:${port} (ECONNREFUSED). Check that it runs there.`,
    expect.stringMatching(
      /^note {2}Agent wrong: wrong is not set up\. The server does not know this address: .* it ends in \/v1\. If it lists no models, set the "model" of its configuration\.$/,
    ),
    'note  Agent locked: locked is not set up. Set LOCKED_KEY before Liminal is started.',
  ]);

  const refusing = createServer((_, response) =>
    response.writeHead(401).end('{"error":{"message":"No: sk-hidden"}}'),
  );
  await once(refusing.listen(0, '127.0.0.1'), 'listening');
  const { port: at } = refusing.address() as AddressInfo;
  const env = { OPENAI_API_KEY: 'sk-hidden', OPENAI_BASE_URL: `http://127.0.0.1:${at}/v1` };
  const refused = home.start(['doctor', '--port', '0'], env);
  expect(await refused.exitCode).toBe(0);
  refusing.close();
  expect(refused.stdout).toMatch(
    /^note {2}Agent openai: .* does not accept the key: .* Check the key/m,
  );
  expect(refused.stdout + refused.stderr).not.toContain('sk-hidden');
});

test('doctor finds the user’s own Codex and Claude Code, even if npm has put Liminal’s own Codex first in the path', async () => {
  const bin = join(home.folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'codex'), '#!/bin/sh\necho codex-cli 9.9.9\n', { mode: 0o755 });
  writeFileSync(join(bin, 'claude'), '#!/bin/sh\necho "9.9.9 (Claude Code)"\n', { mode: 0o755 });
  const own = fileURLToPath(new URL('../../../node_modules/.bin', import.meta.url));
  const PATH = [own, bin, '/usr/bin', '/bin'].join(delimiter);
  const command = home.start(['doctor', '--port', '0'], { PATH });
  expect(await command.exitCode).toBe(0);
  expect(command.stdout).toMatch(
    /Agent codex: Codex 9\.9\.9 \(.*bin\/codex\)\. .*\. Run `codex login` in a terminal/,
  );
  expect(command.stdout).toContain(`Agent claude-code: Claude Code 9.9.9 (${join(bin, 'claude')})`);
});

test('doctor reports the state of the shared Redis and database, and fails if one of them or the data folder cannot be used', async () => {
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
  expect(failing.stdout).toMatch(/^FAIL {2}Redis .*Check that Redis runs/m);
  expect(failing.stdout).toMatch(/^FAIL {2}The database 127.* nothing listens there; start it/m);
  expect(failing.stdout).not.toContain('secret');
});
