/** Model servers behind gateways. A gateway may require headers, and may not list its models. */
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  answer,
  chat,
  reply,
  startChatCompletionsApi,
  startMessagesApi,
  startResponsesApi,
  text,
} from '@liminal/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Home } from './command.ts';

const ends: (() => Promise<unknown>)[] = [];
let home: Home;

beforeEach(() => {
  home = new Home();
  mkdirSync(home.data);
  ends.push(() => home.close());
});
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const configure = (models: object): void =>
  writeFileSync(join(home.data, 'liminal.json'), JSON.stringify({ models }));

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ends.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const kinds = ['Chat Completions', 'Responses', 'Messages'] as const;

/**
 * Starts a model server that replies `Done.` to every request. Returns the server, and its entry for the configuration.
 */
async function start(kind: (typeof kinds)[number]) {
  if (kind === 'Messages') {
    const api = await startMessagesApi({ script: [reply(text('Done.'))] });
    ends.push(() => api.close());
    return { api, entry: { type: 'anthropic', baseUrl: api.url } };
  }
  const isChat = kind === 'Chat Completions';
  const api = isChat
    ? await startChatCompletionsApi({ script: [chat.answer('Done.')] })
    : await startResponsesApi({ script: [answer('Done.')] });
  ends.push(() => api.close());
  return { api, entry: { type: 'openai', baseUrl: api.url, api: isChat ? 'chat' : 'responses' } };
}

test.each(kinds)(
  'with %s, the headers in the configuration are sent, and override Liminal’s own headers',
  async (kind) => {
    const { api, entry } = await start(kind);
    const headers = {
      'X-Gateway': 'team-${TEAM}',
      Authorization: 'Bearer gate',
      'user-agent': 'We',
    };
    configure({ local: { ...entry, model: 'm', headers } });
    const command = home.start(['run', 'hi', '--agent', 'local'], { TEAM: 'seven' });
    expect(await command.exitCode).toBe(0);
    expect(api.requests.at(-1)?.headers).toMatchObject({
      'x-gateway': 'team-seven',
      authorization: 'Bearer gate',
      'user-agent': 'We',
    });
  },
);

const secret = 'gateway-secret-0123456789';

test.each(kinds)(
  'SAFE: with %s, a redirect to another server is refused, and no output contains secret headers',
  async (kind) => {
    let asked = 0;
    const other = await serve((_request, response) => {
      asked += 1;
      response.end();
    });
    const url = await serve((request, response) => {
      const isAway = request.headers['x-gate'] === secret && request.method === 'POST';
      const body = JSON.stringify({
        error: { message: `Bad ${String(request.headers['x-gate'])}` },
      });
      if (isAway) response.writeHead(307, { location: `${other}${request.url}` }).end();
      else response.writeHead(403, { 'content-type': 'application/json' }).end(body);
    });
    const type = kind === 'Messages' ? 'anthropic' : 'openai';
    const api = kind === 'Chat Completions' ? { api: 'chat' } : {};
    const headers = { 'X-Gate': '${GATE}' };
    const baseUrl = kind === 'Messages' ? url : `${url}/v1`;
    configure({ local: { type, ...api, baseUrl, model: 'm', headers } });
    const command = home.start(['run', 'hi', '--agent', 'local'], { GATE: secret });
    expect(await command.exitCode).toBe(1);
    expect(asked).toBe(0);
    expect(command.stderr).toContain(`redirects to ${other}`);
    const doctor = home.start(['doctor', '--port', '0'], { GATE: secret });
    await doctor.exitCode;
    expect(doctor.stdout).toMatch(/Bad (\*\*\*|…)/);
    for (const { stdout, stderr } of [command, doctor]) {
      expect(stdout + stderr).not.toContain(secret);
    }
  },
);

test.each([
  [{ 'bad name': 'a' }, /"models\.local\.headers.*must be the name of a header/],
  [{ host: 'a' }, /is set by Liminal itself/],
  [{ 'x-a': 'a\nb' }, /must be one line of ASCII/],
  [{ 'x-a': '${NOT_SET_HERE}' }, /models\.local\.headers\.x-a.*NOT_SET_HERE is not set/],
])('the headers %j are rejected as an error in the configuration', async (headers, said) => {
  configure({ local: { type: 'openai', baseUrl: 'http://127.0.0.1:1/v1', headers } });
  const command = home.start(['doctor', '--port', '0']);
  expect(await command.exitCode).toBe(2);
  expect(command.stderr).toMatch(said);
});

test('SAFE: if a header uses a variable, commands of the model do not get this variable', async () => {
  const api = await startChatCompletionsApi({
    script: [
      chat.answer(chat.call('bash', { command: 'echo "<$GATE|$OTHER>"' })),
      chat.answer('Done.'),
    ],
  });
  ends.push(() => api.close());
  const headers = { 'x-gate': 'Bearer ${GATE}' };
  configure({ local: { type: 'openai', api: 'chat', baseUrl: api.url, model: 'm', headers } });
  const command = home.start(['run', 'hi', '--agent', 'local', '--set', 'mode=all'], {
    GATE: secret,
    OTHER: 'shown',
  });
  expect(await command.exitCode).toBe(0);
  expect(JSON.stringify(api.requests.at(-1)?.body)).toContain('<|shown>');
});

test.each([
  ['has no list', 404],
  ['lists no models', 200],
])('if a server %s, a person can still use a model of this server by its id', async (_, status) => {
  const models: unknown[] = [];
  const url = await serve((request, response) => {
    if (request.method === 'GET') {
      response.writeHead(status, { 'content-type': 'application/json' });
      return void response.end(status === 200 ? '{"data":[]}' : '{"error":{"message":"No"}}');
    }
    let body = '';
    request.on('data', (piece) => (body += piece));
    request.on('end', () => {
      models.push((JSON.parse(body) as { model: string }).model);
      const delta = { choices: [{ index: 0, delta: { content: 'Done.' }, finish_reason: 'stop' }] };
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(`data: ${JSON.stringify(delta)}\n\ndata: [DONE]\n\n`);
    });
  });
  configure({ local: { type: 'openai', api: 'chat', baseUrl: `${url}/v1` } });
  const without = home.start(['run', 'hi', '--agent', 'local']);
  expect(await without.exitCode).toBe(1);
  expect(without.stderr.trim().split('\n').at(-1)).toMatch(
    /^No model of “local” is available\. \S.*\S If you know a model’s id, type it .* --model, or set "model" in the configuration\.$/,
  );
  for (const id of ['qwen3', 'qwen3:8b', 'local:library/a:b']) {
    const command = home.start(['run', 'hi', '--agent', 'local', '--model', id]);
    expect(await command.exitCode).toBe(0);
    expect(command.stdout).toBe('Done.\n');
  }
  expect(models).toEqual(['qwen3', 'qwen3:8b', 'library/a:b']);
  const doctor = home.start(['doctor', '--port', '0']);
  await doctor.exitCode;
  const line = doctor.stdout.split('\n').find((one) => one.includes('Agent local')) ?? '';
  expect(line).toContain('set the "model" of its configuration');
  expect(readFileSync(join(home.data, 'liminal.json'), 'utf8')).not.toContain('model"');
});
