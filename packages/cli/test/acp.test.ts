/** `liminal acp` as an editor runs it: a separate process that communicates in lines. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LiminalClient } from '@liminal/client';
import { pixel } from '@liminal/testkit';
import { testAtLength } from '@liminal/testkit/at-length';
import type { AcpEditor, AcpMessage } from '@liminal/testkit/acp-editor';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { clientOf, eventually, Home } from './command.ts';

const instant: [string, string] = ['pace', 'instant'];
const endTurn = { result: expect.objectContaining({ stopReason: 'end_turn' }) as unknown };

const isCancelled =
  ({ id }: AcpMessage) =>
  (message: AcpMessage) =>
    message.method === '$/cancel_request' && message.params.requestId === id;

describe('without a server', () => {
  let home: Home;
  const serverLog = () => readFileSync(join(home.data, 'server.log'), 'utf8');

  const start = async (): Promise<AcpEditor> => {
    const editor = home.editor();
    await editor.initialize();
    return editor;
  };

  test('if two editors start at the same time, one server is started, and it keeps running for the next editor', async () => {
    home = new Home();
    onTestFinished(() => home.close());
    const [a, b] = [home.editor(), home.editor()];
    await Promise.all([a.initialize(), b.initialize()]);
    const { pid } = home.server;
    const sessionId = await a.newSession(home.project);
    const { sessions } = await b.result('session/list', {});
    expect(sessions).toEqual([expect.objectContaining({ sessionId, cwd: home.project })]);
    expect(await Promise.all([a.end(), b.end()])).toEqual([0, 0]);
    expect([a.stderr, b.stderr]).toEqual(['', '']);

    const c = await start();
    expect(await c.ask('session/load', { sessionId, cwd: home.project, mcpServers: [] })).toEqual(
      expect.objectContaining({ result: expect.anything() as unknown }),
    );
    expect(home.server.pid).toBe(pid);
    expect(await c.end()).toBe(0);
  });

  test('if the server is killed during a turn, the prompt gets an error and open questions are closed; the next message starts another server, which opens the sessions again', async () => {
    home = new Home();
    onTestFinished(() => home.close());
    const editor = await start();
    const asking = await editor.newSession(home.project, instant);
    expect(await editor.prompt(asking, 'explain')).toMatchObject(endTurn);
    const where = { cwd: home.project, mcpServers: [] };
    const fork = await editor.result('session/fork', { sessionId: asking, ...where });
    const pending = editor.prompt(asking, 'approve');
    const question = await editor.untilAsked();
    const { pid } = home.server;
    const cancelled = editor.until(isCancelled(question));
    await home.endServer('SIGKILL');
    const { error } = await pending;
    expect(error).toMatchObject({ code: -32_603, data: { code: 'SERVER_LOST' } });
    expect(error?.message).toContain('send the message again');
    await cancelled;
    // ACP requires this answer to a cancelled request. The next server must not treat this answer as the answer to a
    // question of its own.
    editor.send({ id: question.id!, error: { code: -32_800, message: 'Cancelled.' } });

    const again = editor.prompt(asking, 'approve');
    const isNew = ({ id, method }: AcpMessage) =>
      method === 'session/request_permission' && id !== question.id;
    editor.choose(await editor.until(isNew), 'allow');
    expect(await again).toMatchObject(endTurn);
    expect(home.server.pid).not.toBe(pid);
    expect(await editor.prompt(fork.sessionId, 'explain')).toMatchObject(endTurn);
    expect(await editor.end()).toBe(0);
  });

  testAtLength(
    'if the server is stopped during a turn, this is reported as an error, and not as a stop by a person',
    async () => {
      home = new Home();
      onTestFinished(() => home.close());
      mkdirSync(home.data, { recursive: true });
      writeFileSync(join(home.data, 'liminal.json'), '{"endLimitMs": 0}');
      const editor = await start();
      const sessionId = await editor.newSession(home.project, instant);
      const pending = editor.prompt(sessionId, 'approve');
      const question = await editor.untilAsked();
      const cancelled = editor.until(isCancelled(question));
      await home.endServer();
      const { result, error } = await pending;
      expect(result).toBeUndefined();
      expect(error).toMatchObject({ code: -32_603, data: { code: 'SERVER_ENDED' } });
      expect(error?.message).toContain('send a message to go on');
      await cancelled;
      editor.send({ id: question.id!, error: { code: -32_800, message: 'Cancelled.' } });
      expect(await editor.prompt(sessionId, 'explain')).toMatchObject(endTurn);
      expect(await editor.end()).toBe(0);
    },
  );

  test('if the server is stopped while no request waits, the server is not started again; if another process starts a server, that server is found', async () => {
    home = new Home();
    onTestFinished(() => home.close());
    const editor = await start();
    const sessionId = await editor.newSession(home.project, instant);
    await home.endServer();
    const before = serverLog();
    const { command } = await home.serve();
    expect(await editor.prompt(sessionId, 'explain')).toMatchObject(endTurn);
    expect(home.server.pid).toBe(command.pid);
    expect(serverLog()).toBe(before);
    expect(await editor.end()).toBe(0);
    expect(editor.stderr).toBe('');
  });

  test('if the data folder is unusable, the error contains the folder’s path and says what to do', async () => {
    home = new Home();
    onTestFinished(() => home.close());
    const folder = join(import.meta.filename, 'data');
    const editor = home.editor(['--agent', 'demo', '--data', folder]);
    expect(await editor.end()).toBe(1);
    expect(editor.stderr).toBe(
      `The data folder ${folder} cannot be used: ENOTDIR: not a directory, mkdir '${folder}'. Repair it, or choose another with --data.\n`,
    );
  });

  test('if the server cannot start, one sentence reports this', async () => {
    home = new Home();
    onTestFinished(() => home.close());
    const editor = home.editor(['--agent', 'demo', '--config', join(home.folder, 'none.json')]);
    expect(await editor.exitCode).toBe(1);
    expect(editor.stderr).toMatch(/^The Liminal server did not start\..*none\.json/);
    expect(editor.stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(editor.received).toEqual([]);
  });
});

describe('with a server', () => {
  let home: Home;
  let client: LiminalClient;
  let open: AcpEditor[] = [];
  const editor = async (...args: string[]): Promise<AcpEditor> => {
    const made = home.editor(['--agent', 'demo', ...args]);
    open.push(made);
    await made.initialize();
    return made;
  };

  beforeAll(async () => {
    home = new Home();
    client = clientOf(await home.serve());
  });
  afterEach(async () => {
    const left = await Promise.all(open.map((one) => one.end()));
    expect(left).toEqual(open.map(() => 0));
    open = [];
  });
  afterAll(async () => {
    client.close();
    await home.close();
  });

  test('`acp` uses the running server, and that server’s other clients see the session', async () => {
    const { pid } = home.server;
    const a = await editor();
    const sessionId = await a.newSession(home.project, instant);
    expect(await a.prompt(sessionId, 'fix')).toMatchObject(endTurn);
    expect(a.agentText(sessionId)).toContain('Demo, recorded');
    const { turns } = await client.requests.history(sessionId);
    expect(turns).toEqual([expect.objectContaining({ status: 'complete' })]);
    expect(home.server.pid).toBe(pid);
    expect(existsSync(join(home.data, 'server.log'))).toBe(false);
  });

  test('a line that is not JSON is answered with -32700, a line that is not a message with -32600, and the connection continues', async () => {
    const a = await editor();
    for (const [line, code] of [
      ['{"jsonrpc":"2.0","id":1,', -32_700],
      ['nonsense', -32_700],
      ['[]', -32_600],
      ['1', -32_600],
    ] as const) {
      const before = a.received.length;
      a.sendLine(line);
      const answer = await a.until((message) => a.received.indexOf(message) >= before);
      expect(answer).toMatchObject({ id: null, error: { code } });
    }
    expect(await a.ask('session/list', {})).toMatchObject({ result: {} });
  });

  test.each<[string, string[], number, RegExp]>([
    [
      'an unknown agent',
      ['--agent', 'nobody'],
      1,
      /^There is no agent nobody\. Choose one of: .*demo.*\n$/,
    ],
    ['no agent', [], 2, /^Name the agent, for example: --agent claude-code\.\n.*--help.*\n$/],
    ['an unknown flag', ['--agent', 'demo', '--fast'], 2, /'--fast'.*\n.*--help.*\n$/],
    ['a word too many', ['demo'], 2, /'demo'.*\n.*--help.*\n$/],
    ['--help', ['--help'], 0, /^Usage: liminal acp --agent <type>/],
  ])('for %s, the answer is on standard error', async (_, args, code, told) => {
    const one = home.editor(args);
    expect(await one.exitCode).toBe(code);
    expect(one.stderr).toMatch(told);
    expect([one.received, one.problems]).toEqual([[], []]);
  });

  test('when an editor leaves, the editor’s turn continues, and the editor’s last message has reached the server', async () => {
    const a = home.editor();
    await a.initialize();
    const sessionId = await a.newSession(home.project);
    void a.prompt(sessionId, 'explain').catch(() => {});
    expect(await a.end()).toBe(0);
    const turns = async () => (await client.requests.history(sessionId)).turns;
    await eventually(turns).toEqual([expect.objectContaining({ status: 'in_progress' })]);
    await client.requests.setConfig(sessionId, 'pace', 'instant');
    await eventually(turns).toEqual([expect.objectContaining({ status: 'complete' })]);
    const b = await editor();
    await b.result('session/load', { sessionId, cwd: home.project, mcpServers: [] });
    expect(b.agentText(sessionId)).toContain('Demo, recorded');
  });

  test('two editors get the same updates and the same question, the first answer counts, and the dialog of the other editor is closed', async () => {
    const [a, b] = [await editor(), await editor()];
    const sessionId = await a.newSession(home.project, instant);
    await b.result('session/resume', { sessionId, cwd: home.project, mcpServers: [] });
    const pending = a.prompt(sessionId, 'approve');
    const [first, second] = [await a.untilAsked(), await b.untilAsked()];
    expect(second.params).toEqual(first.params);
    b.choose(second, 'allow');
    await a.until(isCancelled(first));
    a.choose(first, 'reject');
    expect(await pending).toMatchObject(endTurn);
    expect(a.agentText(sessionId)).toContain('You allowed it');
    await eventually(() => b.agentText(sessionId)).toBe(a.agentText(sessionId));
    expect(b.received.filter(({ method }) => method === '$/cancel_request')).toEqual([]);
    // The client that did not send the message also receives it.
    const kinds = (one: AcpEditor) => one.updates(sessionId).map((update) => update.sessionUpdate);
    expect(kinds(b)).toContain('user_message_chunk');
    const talk = (one: AcpEditor) =>
      one.updates(sessionId).filter(({ sessionUpdate }) => /chunk|tool|plan/.test(sessionUpdate));
    const others = talk(b).filter(({ sessionUpdate }) => sessionUpdate !== 'user_message_chunk');
    expect(JSON.stringify(others)).toBe(JSON.stringify(talk(a)));
  });

  test('if the editor stops reading, the process ends without an error', async () => {
    const a = home.editor();
    await a.initialize();
    const sessionId = await a.newSession(home.project, ['pace', 'fast']);
    void a.prompt(sessionId, 'fix').catch(() => {});
    await a.untilUpdate('agent_message_chunk');
    a.stopReading();
    expect(await a.exitCode).toBe(0);
    expect(a.stderr).toBe('');
  });

  test('an image of 20 MiB can be sent in both directions; a message over the limit is refused, and the connection continues', async () => {
    const a = await editor();
    const sessionId = await a.newSession(home.project, instant);
    const bytes = Buffer.alloc(20 * 1024 * 1024);
    Buffer.from(pixel, 'base64').copy(bytes);
    const data = bytes.toString('base64');
    const image = { type: 'image', mimeType: 'image/png', data };
    const text = { type: 'text', text: 'explain' };
    const prompt = [image, text];
    expect(await a.ask('session/prompt', { sessionId, prompt })).toMatchObject(endTurn);
    const tooLong = await a.ask('session/prompt', { sessionId, prompt: [image, image] });
    expect(tooLong.error).toMatchObject({ code: -32_600, data: { code: 'MESSAGE_TOO_LARGE' } });
    expect(tooLong.error?.message).toContain('32 MiB');
    expect(await a.prompt(sessionId, 'plan')).toMatchObject(endTurn);

    const b = await editor();
    await b.result('session/load', { sessionId, cwd: home.project, mcpServers: [] });
    const shown = b.updates(sessionId).map(({ content }) => content as { data?: string });
    expect(shown.filter((content) => content?.data === data)).toHaveLength(1);
  });
});
