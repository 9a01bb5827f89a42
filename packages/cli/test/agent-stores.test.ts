/** Sessions in the agents' own stores, as a page lists them. Listing these sessions starts no program. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testAtLength } from '@liminal/testkit/at-length';
import { acpAgent, type AcpAgent } from '@liminal/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { Home, type Server } from './command.ts';

const Listed = z.array(z.looseObject({ title: z.string() }));
/** The fields of the server's responses that these tests use. */
const Answer = z.looseObject({
  sessions: Listed.default([]),
  projects: z.array(z.object({ sessions: Listed })).default([]),
  agents: z
    .array(z.looseObject({ cliType: z.string(), sessionsOnRequest: z.boolean().optional() }))
    .default([]),
});

const names = ['one', 'two', 'three'];
let home: Home;
let agents: AcpAgent[];

beforeEach(async () => {
  home = new Home();
  agents = await Promise.all(
    names.map((name) =>
      acpAgent({
        sessions: [
          {
            sessionId: `${name}-old`,
            cwd: home.project,
            title: `Made by ${name}`,
            updatedAt: '2026-01-01T00:00:00Z',
            updates: [],
          },
        ],
      }),
    ),
  );
  mkdirSync(home.data, { recursive: true });
  const entries = agents.map(({ command, args, env }, at) => [names[at], { command, args, env }]);
  const config = { agents: Object.fromEntries(entries), roots: [home.folder] };
  writeFileSync(join(home.data, 'liminal.json'), JSON.stringify(config));
});

afterEach(async () => {
  await home.close();
  await Promise.all(agents.map(({ control }) => control.close()));
});

const started = (): number[] => agents.map(({ control }) => control.processes.length);

async function ask(server: Server, method: 'GET' | 'POST', path: string) {
  const headers = { authorization: `Bearer ${server.token}` };
  const answer = await fetch(`${server.url}${path}`, { method, headers });
  return { status: answer.status, body: Answer.parse(await answer.json()) };
}

/** Sends the requests that a page sends when it opens, before the user does anything. */
async function openPage(server: Server): Promise<string[]> {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/ws`, {
    headers: { authorization: `Bearer ${server.token}` },
  } as never);
  const told = Promise.withResolvers<string>();
  socket.onopen = () => socket.send(JSON.stringify({ type: 'sessions:subscribe' }));
  socket.onmessage = ({ data }) => told.resolve(String(data));
  socket.onerror = () => told.reject(new Error('The socket was refused.'));
  await told.promise;
  await ask(server, 'GET', '/api/agents');
  const project = encodeURIComponent(home.project);
  const { body } = await ask(server, 'GET', `/api/session/list?projectId=${project}`);
  const { body: all } = await ask(server, 'GET', '/api/projects');
  socket.close();
  const listed = body.sessions.map(({ title }) => title);
  const shown = all.projects.flatMap(({ sessions }) => sessions.map(({ title }) => title));
  expect(listed).toEqual(shown);
  return listed;
}

test('INV-8: if a page is opened, no agent is started; if a page asks for an agent’s sessions, they are listed and stored', async () => {
  const server = await home.serve();
  expect(await openPage(server)).toEqual([]);
  const { body: catalogue } = await ask(server, 'GET', '/api/agents');
  expect(
    catalogue.agents
      .filter(({ sessionsOnRequest }) => sessionsOnRequest === true)
      .map(({ cliType }) => cliType),
  ).toEqual(expect.arrayContaining(names));

  expect((await ask(server, 'POST', '/api/session/nobody/load')).status).toBe(404);
  expect(started()).toEqual([0, 0, 0]);

  const found = await ask(server, 'POST', '/api/agents/two/sessions');
  expect(found).toMatchObject({
    status: 200,
    body: { sessions: [{ sessionId: 'two-old', title: 'Made by two', source: 'agent' }] },
  });
  await expect.poll(started).toEqual([0, 1, 0]);
  expect(await openPage(server)).toEqual(['Made by two']);
  server.command.signal('SIGTERM');
  await server.command.exitCode;

  const again = await home.serve();
  expect(await openPage(again)).toEqual(['Made by two']);
  // Liminal cannot ask these agents for their sessions.
  for (const [cliType, status, code] of [
    ['demo', 409, 'NOT_SUPPORTED'],
    ['nobody', 400, 'UNSUPPORTED_CLI_TYPE'],
  ] as const) {
    expect(await ask(again, 'POST', `/api/agents/${cliType}/sessions`)).toMatchObject({
      status,
      body: { error: { code } },
    });
  }
  expect(started()).toEqual([0, 1, 0]);
});

testAtLength(
  'fork and steer accept a session that exists only in the agent’s own store',
  async () => {
    const server = await home.serve();
    await ask(server, 'POST', '/api/agents/two/sessions');
    const fork = await home.play('fork', 'two-old');
    expect(fork).toMatchObject({ exitCode: 1, stdout: '' });
    expect(fork.stderr).toContain('two cannot fork its sessions.');
    const steer = await home.play('steer', 'two-old', 'A word.');
    expect(steer).toMatchObject({ exitCode: 1, stdout: '' });
    expect(steer.stderr).toContain('No turn is running. Send the text as a new message.');
  },
);

test('while an agent runs for one session, the agent’s other sessions are also listed', async () => {
  const server = await home.serve();
  const headers = {
    authorization: `Bearer ${server.token}`,
    'content-type': 'application/json',
  };
  const body = JSON.stringify({ cliType: 'one', projectDir: home.project });
  await fetch(`${server.url}/api/session/create`, { method: 'POST', headers, body });
  await agents[0]!.control.until('session/list');
  await expect.poll(() => openPage(server)).toContain('Made by one');
  expect(started()).toEqual([1, 0, 0]);
});
