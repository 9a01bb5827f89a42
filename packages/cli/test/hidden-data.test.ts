/** Agents that try to read or change Liminal's own files, in a project that contains the data folder. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LiminalClient } from '@liminal/client';
import { acpAgent, type AcpAgent, type Step } from '@liminal/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientOf, Home } from './command.ts';

let home: Home;
let agent: AcpAgent;
let client: LiminalClient;
const files = ['token', 'server.json', 'liminal.json'];

beforeAll(async () => {
  home = new Home();
  const path = (name: string) => join(home.data, name);
  const steps: Step[] = files.flatMap((name) => [
    { request: { method: 'fs/read_text_file', params: { path: path(name) }, id: `read ${name}` } },
    {
      request: {
        method: 'fs/write_text_file',
        params: { path: path(name), content: 'mine' },
        id: `write ${name}`,
      },
    },
  ]);
  agent = await acpAgent({ turns: [{ steps: [...steps, { say: 'Done.' }] }] });
  const { command, args, env } = agent;
  mkdirSync(home.data, { recursive: true });
  const config = { agents: { nosy: { command, args, env } } };
  writeFileSync(path('liminal.json'), JSON.stringify(config));
  client = clientOf(await home.serve());
});
afterAll(async () => {
  client.close();
  await home.close();
  await agent.control.close();
});

test('SAFE: Liminal refuses an ACP agent’s requests for Liminal’s own files', async () => {
  const before = files.map((name) => readFileSync(join(home.data, name), 'utf8'));
  const { requests } = client;
  const { sessionId } = await requests.createSession({ cliType: 'nosy', projectDir: home.folder });
  await requests.send(sessionId, 'Look.');
  for (const name of files) {
    for (const what of ['read', 'write']) {
      const { error, result } = await agent.control.until((one) => one.id === `${what} ${name}`);
      expect({ error, result }).toMatchObject({
        error: { message: expect.stringContaining('belongs to Liminal itself') },
        result: undefined,
      });
    }
  }
  expect(files.map((name) => readFileSync(join(home.data, name), 'utf8'))).toEqual(before);
});
