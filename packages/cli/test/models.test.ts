import { firstOf } from '@liminal/testkit/at-length';
/** Runs a bare model in the terminal. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  answer,
  chat,
  freePort,
  httpError,
  startChatCompletionsApi,
  startResponsesApi,
} from '@liminal/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { clientOf, eventually, Home } from './command.ts';

let home: Home;

beforeEach(() => {
  home = new Home();
  mkdirSync(home.data);
});
afterEach(() => home.close());

const configure = (models: object): void =>
  writeFileSync(join(home.data, 'liminal.json'), JSON.stringify({ models }));

test('if a model server cannot answer yet, the terminal shows that the request is retried', async () => {
  const headers = { 'retry-after': '1' };
  const api = await startResponsesApi({
    script: [httpError(503, 'It starts.', { headers }), answer('Good morning.')],
  });
  configure({ local: { type: 'openai', baseUrl: api.url, model: 'm' } });

  const command = home.start(['run', 'hi', '--agent', 'local']);
  expect(await command.exitCode).toBe(0);
  await api.close();
  expect(command.stdout).toBe('Good morning.\n');
  expect(command.stderr).toMatch(/^The model’s server .*: It starts\. Retrying in 1 s\.$/m);
});

test('if a model cannot be used, it is refused with a sentence that says what to do', async () => {
  const port = await freePort();
  configure({ local: { type: 'openai', baseUrl: `http://127.0.0.1:${port}/v1` } });
  const keyless = home.start(['run', 'hi', '--agent', 'openai']);
  expect(await keyless.exitCode).toBe(1);
  expect(keyless.stderr).toMatch(/available\. Set OPENAI_API_KEY before Liminal is started\.$/m);

  const away = home.start(['run', 'hi', '--agent', 'local']);
  expect(await away.exitCode).toBe(1);
  expect(away.stderr).toContain(`at http://127.0.0.1:${port} (ECONNREFUSED). Check that it runs`);
});

/** The beginning of an audio file, with bytes that are not valid text. */
const sound = Buffer.from('UklGRgD/gApXQVZF', 'base64');

test('an audio file reaches the model of a Chat Completions server byte for byte', async () => {
  const api = await startChatCompletionsApi({ script: [chat.answer('A bell.')] });
  configure({ local: { type: 'openai', baseUrl: api.url, model: 'm' } });
  const file = join(home.data, 'bell.wav');
  writeFileSync(file, sound);

  const command = home.start(['run', 'What is it?', '--attach', file, '--agent', 'local']);
  expect(await command.exitCode).toBe(0);
  await api.close();
  expect(command.stdout).toBe('A bell.\n');
  expect(api.requests.at(-1)?.body.messages.at(-1)).toEqual({
    role: 'user',
    content: [
      { type: 'text', text: 'What is it?' },
      { type: 'input_audio', input_audio: { data: sound.toString('base64'), format: 'wav' } },
    ],
  });
});

test('if the model’s server refuses audio, the model gets the file’s name instead, and the turn continues', async () => {
  const refusal = chat.httpError(500, 'audio input is not supported - hint: no mmproj');
  const api = await startChatCompletionsApi({ script: [refusal, chat.answer('I hear nothing.')] });
  configure({ local: { type: 'openai', baseUrl: api.url, model: 'm', api: 'chat' } });
  const file = join(home.data, 'bell.wav');
  writeFileSync(file, sound);

  const command = home.start(['run', 'What is it?', '--attach', file, '--agent', 'local']);
  expect(await command.exitCode).toBe(0);
  await api.close();
  expect(command.stdout).toBe('I hear nothing.\n');
  expect(api.requests.at(-1)?.body.messages.at(-1)).toEqual({
    role: 'user',
    content: 'What is it?\n\n[bell.wav (audio/wav) cannot be shown here]',
  });
});

test.each(
  firstOf(1, [
    ['the Responses API', { type: 'openai', api: 'responses' }],
    ['Anthropic’s interface', { type: 'anthropic' }],
  ]),
)('audio is refused before a request is sent if the server has %s', async (_, speaks) => {
  const api = await startResponsesApi({ script: [] });
  configure({ local: { ...speaks, baseUrl: api.url, model: 'm' } });
  const file = join(home.data, 'bell.mp3');
  writeFileSync(file, sound);

  const command = home.start(['run', 'What is it?', '--attach', file, '--agent', 'local']);
  expect(await command.exitCode).toBe(1);
  await api.close();
  expect(command.stderr).toMatch(
    /does not accept such audio\. Remove “bell\.mp3” \(audio\/mpeg\) from/,
  );
  expect(api.requests).toEqual([]);
});

test('if a server restarts while its turn waits for a person, the turn is shown as one turn, both live and later', async () => {
  const touch = chat.call('bash', { command: 'touch made.txt' });
  const script = [chat.answer([chat.text('I make it.'), touch]), chat.answer('It is made.')];
  const api = await startChatCompletionsApi({ script });
  configure({ local: { type: 'openai', baseUrl: api.url, model: 'm', api: 'chat' } });
  const first = await home.serve();
  const before = clientOf(first);
  const made = { cliType: 'local', projectDir: home.project };
  const { sessionId } = await before.requests.createSession(made);
  const tail = home.start(['tail', sessionId]);
  await before.requests.send(sessionId, 'Make it');
  await tail.untilOutput(/waits for an answer/);
  before.close();
  await first.command.end('SIGKILL');

  const client = clientOf(await home.serve(['--port', new URL(first.url).port]));
  await tail.untilOutput(/The server stopped here; the turn continues below/);
  const asked = async () => {
    const { entries } = await client.requests.history(sessionId);
    return entries.flatMap((item) =>
      item.type === 'approval' && item.outcome === undefined ? item.approvalId : [],
    );
  };
  await eventually(async () => (await asked()).length).toBe(1);
  const [approvalId = ''] = await asked();
  await client.requests.answerApproval(sessionId, approvalId, { optionId: 'allow' });
  await tail.untilOutput(/It is made/);

  const all = home.start(['tail', sessionId]);
  await all.untilOutput(/It is made/);
  const json = home.start(['tail', sessionId, '--json']);
  await json.untilOutput(/It is made/);
  client.close();
  await api.close();
  expect(all.stdout.trimEnd().split('\n')).toEqual([
    '> Make it',
    'I make it.',
    '! The server stopped here; the turn continues below.',
    '* touch made.txt',
    '? touch made.txt: Allow',
    'It is made.',
  ]);
  expect(tail.stdout).not.toMatch(/turn failed|turn_ended/);
  // Programs receive all items.
  expect(json.stdout).toMatch(/"reason":"turn_ended"/);
});
