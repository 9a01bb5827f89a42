/** Tests the methods of ACP with an agent that has a mode, a model and commands. */
import {
  methods,
  type SessionConfigOption,
  type SetSessionConfigOptionRequest,
} from '@agentclientprotocol/sdk/unstable';
import type { AgentDriver, AgentSession, SessionOpening, SessionOutput } from '@liminal/agents';
import { DemoDriver } from '@liminal/agents/demo';
import type { AgentInfo, ConfigOption, EventPayload } from '@liminal/protocol';
import type { Runtime } from '@liminal/runtime';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Editor, type EditorOptions, stage } from './editor.ts';

const choices = ['one', 'two'].map((value) => ({ value, name: value }));

/** An agent whose turns end when the test ends them. */
class ChoosyProvider implements AgentDriver {
  readonly cliType = 'choosy';
  readonly name = 'Choosy';
  readonly prewarms = true;
  readonly outputs = new Map<string, SessionOutput>();
  readonly #turns = new Map<string, string>();

  async fork() {
    return { copies: new Map<string, string>(), left: new Set<string>() };
  }

  async describe(): Promise<AgentInfo> {
    const { cliType, name } = this;
    const mcpTransports: AgentInfo['mcpTransports'] = ['http', 'sse'];
    return { cliType, name, description: 'Has a mode.', available: true, mcpTransports };
  }

  async open({ sessionId, output }: SessionOpening): Promise<AgentSession> {
    this.outputs.set(sessionId, output);
    const chosen: Record<string, string> = { permissions: 'one', model: 'one' };
    const options = (): ConfigOption[] => [
      option('permissions', chosen['permissions']!, 'mode'),
      option('model', chosen['model']!, 'model'),
    ];
    const commands = [{ name: 'review', description: 'Looks at changes.' }];
    output.update({ configOptions: options(), commands });
    return {
      isAlive: true,
      accepts: { image: ['image/*'], audio: [], resource: [] },
      send: async (content, turnId) => {
        this.#turns.set(sessionId, turnId);
        this.say(sessionId, { type: 'response_start', modelId: 'm', providerId: 'choosy' });
        const message = { id: 'user', type: 'message', content, origin: 'user' } as const;
        this.say(sessionId, { type: 'item_done', itemId: 'user', finalItem: message });
        if (content.startsWith('Answer')) this.answer(sessionId, `${content} Yes.`);
      },
      cancel: async () => this.#end(sessionId, 'cancelled'),
      close: async () => {
        this.#end(sessionId, 'cancelled');
        output.exit({ expected: true });
      },
      setConfigOption: async (id, value) => {
        chosen[id] = value;
        output.update({ configOptions: options() });
      },
    };
  }

  say(sessionId: string, payload: EventPayload): void {
    const turnId = this.#turns.get(sessionId)!;
    const timestamp = new Date().toISOString();
    this.outputs.get(sessionId)?.emit({ turnId, timestamp, payload });
  }

  answer(sessionId: string, content: string): void {
    const message = { id: 'answer', type: 'message', content, origin: 'agent' } as const;
    this.say(sessionId, { type: 'item_done', itemId: 'answer', finalItem: message });
    this.#end(sessionId, 'completed');
  }

  #end(sessionId: string, status: 'completed' | 'cancelled'): void {
    if (!this.#turns.has(sessionId)) return;
    this.say(sessionId, { type: 'response_done', status, finishReason: null });
    this.#turns.delete(sessionId);
  }
}

const option = (id: string, currentValue: string, category: string): ConfigOption => ({
  id,
  name: id,
  category,
  currentValue,
  options: choices,
});

type Sink = Parameters<Runtime['subscribe']>[2];
type Sent = Parameters<Sink['send']>[0];

const { session } = methods.agent;
const notices: EditorOptions = { capabilities: { session: { notices: {} } } };

async function opened(options?: EditorOptions) {
  const agent = new ChoosyProvider();
  const staged = await stage({ provide: () => agent });
  const zed = await staged.editor(options);
  return { ...staged, agent, zed, sessionId: await zed.create() };
}

async function withDemo() {
  const staged = await stage({ provide: () => new DemoDriver({ speed: 500 }) });
  const zed = await staged.editor();
  return { ...staged, zed };
}

/** Returns the updates of one kind that an editor received. */
const updatesOf = ({ updates }: Editor, kind: string) =>
  updates.filter(({ sessionUpdate }) => sessionUpdate === kind);

async function running(runtime: Runtime, sessionId: string): Promise<void> {
  await expect.poll(async () => (await runtime.info(sessionId)).session.state).toBe('running');
}

const valuesOf = (options: readonly SessionConfigOption[] | null | undefined) =>
  (options ?? []).map(({ id, currentValue }) => [id, currentValue]);

test('the response to initialize contains Liminal’s name, version and capabilities, and no sign-in is needed', async () => {
  const { zed } = await opened();
  expect(await zed.hello()).toEqual({
    protocolVersion: 1,
    agentInfo: { name: 'liminal', title: 'Liminal', version: '1.2.3' },
    authMethods: [],
    agentCapabilities: {
      loadSession: true,
      mcpCapabilities: { http: true, sse: true },
      promptCapabilities: { image: true, audio: true, embeddedContext: true },
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, fork: {} },
    },
  });
  expect(await zed.agent.request(methods.agent.authenticate, { methodId: 'none' })).toEqual({});
  const { agentCapabilities } = await (await withDemo()).zed.hello();
  expect(agentCapabilities?.mcpCapabilities).toEqual({ http: false, sse: false });
});

test('the response for a new session contains the settings, which are not sent again; the commands follow the response', async () => {
  const { zed, workspace } = await opened();
  zed.updates.length = 0;
  const cwd = workspace.projectDir;
  const created = await zed.agent.request(session.new, { cwd, mcpServers: [] });
  expect(valuesOf(created.configOptions)).toEqual([
    ['permissions', 'one'],
    ['model', 'one'],
  ]);
  expect(created.modes).toMatchObject({ currentModeId: 'one' });
  await zed.until((all) => all.find((one) => one.sessionUpdate === 'available_commands_update'));
  expect(updatesOf(zed, 'config_option_update')).toEqual([]);
  expect(updatesOf(zed, 'current_mode_update')).toEqual([]);
});

test('if one editor sets a mode, the session’s other editors get the new mode once', async () => {
  const { zed, editor, sessionId, runtime } = await opened();
  const other = await editor();
  await other.load(sessionId);
  await zed.agent.request(session.setMode, { sessionId, modeId: 'two' });
  expect(valuesOf((await runtime.info(sessionId)).configOptions as never)).toContainEqual([
    'permissions',
    'two',
  ]);
  await other.until((all) => all.find((one) => one.sessionUpdate === 'current_mode_update'));
  await runtime.rename(sessionId, 'A later title');
  await other.until((all) =>
    all.find((one) => one.sessionUpdate === 'session_info_update' && one.title === 'A later title'),
  );
  expect(updatesOf(other, 'current_mode_update')).toEqual([
    { sessionUpdate: 'current_mode_update', currentModeId: 'two' },
  ]);
  expect(updatesOf(other, 'config_option_update')).toHaveLength(1);
  expect(updatesOf(other, 'available_commands_update')).toHaveLength(1);
  const titles = updatesOf(other, 'session_info_update').map((one) => 'title' in one && one.title);
  expect(new Set(titles).size).toBe(titles.length);
});

test('if an editor sets an option, the response contains the option; a mode is rejected if the agent has no modes', async () => {
  const { zed, sessionId } = await opened();
  const set: SetSessionConfigOptionRequest = { sessionId, configId: 'model', value: 'two' };
  const { configOptions } = await zed.agent.request(session.setConfigOption, set);
  expect(valuesOf(configOptions)).toEqual([
    ['permissions', 'one'],
    ['model', 'two'],
  ]);
  const demo = await withDemo();
  const mode = { sessionId: await demo.zed.create(), modeId: 'one' };
  await expect(demo.zed.agent.request(session.setMode, mode)).rejects.toMatchObject({
    code: -32_602,
    message: 'This agent has no modes.',
  });
});

test('sessions are listed with their titles, the last changed session first; sessions of other agents are left out', async () => {
  const { zed, sessionId, runtime, workspace } = await opened();
  const newer = await zed.create();
  const project = (await runtime.listProjects())[0]!;
  vi.spyOn(runtime, 'listProjects').mockResolvedValue([
    {
      ...project,
      sessions: project.sessions.flatMap((one) => {
        const isOlder = one.sessionId === sessionId;
        const updatedAt = `2026-01-0${isOlder ? 1 : 2}T00:00:00.000Z`;
        const other = { ...one, sessionId: `other-${one.sessionId}`, cliType: 'demo' };
        return [{ ...one, updatedAt, title: isOlder ? 'Older' : 'Newer' }, other];
      }),
    },
  ]);
  onTestFinished(() => void vi.restoreAllMocks());
  const cwd = workspace.projectDir;
  expect((await zed.agent.request(session.list, {})).sessions).toEqual([
    { sessionId: newer, cwd, title: 'Newer', updatedAt: '2026-01-02T00:00:00.000Z' },
    { sessionId, cwd, title: 'Older', updatedAt: '2026-01-01T00:00:00.000Z' },
  ]);
});

test('a prompt may contain only an image; an additional folder must be an absolute path', async () => {
  const { zed, sessionId, agent, runtime, workspace } = await opened();
  const image = { type: 'image' as const, data: 'iVBORw0KGgo=', mimeType: 'image/png' };
  const send = vi.spyOn(runtime, 'send');
  onTestFinished(() => void vi.restoreAllMocks());
  const answered = zed.agent.request(session.prompt, { sessionId, prompt: [image] });
  await running(runtime, sessionId);
  expect(send.mock.calls).toEqual([[sessionId, '', expect.any(String), { blocks: [image] }]]);
  agent.answer(sessionId, 'It is black.');
  expect(await answered).toMatchObject({ stopReason: 'end_turn' });
  const cwd = workspace.projectDir;
  const relative = { cwd, mcpServers: [], additionalDirectories: ['lib'] };
  await expect(zed.agent.request(session.new, relative)).rejects.toThrow(
    '“lib” is not an absolute path: ACP requires one in additionalDirectories.',
  );
});

test('closing a session cancels its prompt, ends its agent, and detaches the editor', async () => {
  const { zed, sessionId, runtime } = await opened();
  const answered = zed.prompt(sessionId, 'Wait.');
  await running(runtime, sessionId);
  await zed.agent.request(session.close, { sessionId });
  expect(await answered).toMatchObject({ stopReason: 'cancelled' });
  expect((await runtime.info(sessionId)).session.isAlive).toBe(false);
  await expect(zed.prompt(sessionId, 'Answer.')).rejects.toMatchObject({
    code: -32_602,
    message: `This connection has not opened the session ${sessionId}: send session/load or session/resume first.`,
  });
});

test('if a session is deleted, it is not listed any more, and its prompt ends as cancelled for every editor', async () => {
  const { zed, editor, sessionId } = await opened();
  const other = await editor();
  await other.load(sessionId);
  const answered = [zed, other].map(async (one) => one.prompt(sessionId, 'Wait.'));
  await other.until((all) => all.find((one) => one.sessionUpdate === 'user_message_chunk'));
  await zed.agent.request(session.delete, { sessionId });
  for (const one of answered) expect(await one).toMatchObject({ stopReason: 'cancelled' });
  expect(await zed.agent.request(session.list, {})).toEqual({ sessions: [] });
  await expect(zed.prompt(sessionId, 'Answer.')).rejects.toThrow('has not opened the session');
  await expect(other.load(sessionId)).rejects.toMatchObject({ code: -32_002 });
});

test('a fork is a new session in which the editor can send a prompt at once', async () => {
  const { zed, sessionId, workspace } = await opened();
  await zed.prompt(sessionId, 'Answer.');
  const cwd = workspace.projectDir;
  const fork = await zed.agent.request(session.fork, { sessionId, cwd, mcpServers: [] });
  expect(fork.sessionId).not.toBe(sessionId);
  expect(valuesOf(fork.configOptions)).toContainEqual(['permissions', 'one']);
  expect(await zed.prompt(fork.sessionId, 'Answer again.')).toMatchObject({
    stopReason: 'end_turn',
  });
  expect(zed.agentText).toBe('Answer. Yes.Answer again. Yes.');
  const relative = zed.agent.request(session.fork, { sessionId, cwd: 'src', mcpServers: [] });
  await expect(relative).rejects.toThrow('“src” is not an absolute path: ACP requires one in cwd.');
});

test('an editor that resumes a session gets none of the earlier turns, and all later turns', async () => {
  const { zed, editor, sessionId, workspace } = await opened();
  await zed.prompt(sessionId, 'Answer.');
  const other = await editor();
  const cwd = workspace.projectDir;
  const resumed = await other.agent.request(session.resume, { sessionId, cwd });
  expect(valuesOf(resumed.configOptions)).toContainEqual(['model', 'one']);
  expect(other.agentText).toBe('');
  await zed.prompt(sessionId, 'Answer again.');
  await other.until(() => other.agentText.includes('again') || undefined);
  expect(other.agentText).toBe('Answer again. Yes.');
  expect(updatesOf(other, 'user_message_chunk')).toHaveLength(1);
  // An editor shows its own prompts itself.
  expect(updatesOf(zed, 'user_message_chunk')).toEqual([]);
});

test('if the turn of a prompt cannot be read, the prompt rejects with the reason, which is also reported as a problem', async () => {
  const { zed, sessionId, runtime, problems } = await opened();
  const error = new Error('The log is away.');
  vi.spyOn(runtime, 'getRun').mockRejectedValueOnce(error);
  onTestFinished(() => void vi.restoreAllMocks());
  await expect(zed.prompt(sessionId, 'Answer.')).rejects.toMatchObject({
    code: -32_603,
    message: 'The log is away.',
  });
  expect(problems).toEqual([error]);
  expect(await zed.prompt(sessionId, 'Answer again.')).toMatchObject({ stopReason: 'end_turn' });
});

test('an editor that loads a session gets every turn, including turns on older pages', async () => {
  const { zed, editor, sessionId, runtime } = await opened();
  const history = runtime.history.bind(runtime);
  for (let count = 0; count < 120; count += 1) await zed.prompt(sessionId, `Answer ${count}.`);
  const pages = vi.spyOn(runtime, 'history').mockImplementation(async (id, options) => {
    return history(id, { ...options, limit: 30 });
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const other = await editor();
  await other.load(sessionId);
  expect(pages.mock.calls.length).toBeGreaterThan(1);
  const expected = Array.from({ length: 120 }, (_, count) => `Answer ${count}. Yes.`);
  expect(other.agentText).toBe(expected.join(''));
});

test('if an editor leaves during its prompt, the editor gets no more updates of the turn, and the turn continues', async () => {
  const { zed, editor, sessionId, agent, runtime, problems } = await opened();
  const answered = zed.prompt(sessionId, 'Wait.').catch(() => 'cut');
  await zed.until((all) => all.find((one) => one.sessionUpdate === 'available_commands_update'));
  await running(runtime, sessionId);
  zed.leave();
  expect(await answered).toBe('cut');
  agent.answer(sessionId, 'Late.');
  const other = await editor();
  await other.load(sessionId);
  await other.until(() => other.agentText === 'Late.' || undefined);
  expect(problems).toEqual([]);
});

test('editors that show notices get an error of the session with its sentence', async () => {
  const { zed, editor, sessionId, agent, runtime } = await opened(notices);
  const plain = await editor();
  await plain.load(sessionId);
  void zed.prompt(sessionId, 'Wait.').catch(() => {});
  await running(runtime, sessionId);
  agent.outputs.get(sessionId)!.update({
    notices: [
      { level: 'info', text: ' \n' },
      { level: 'warning', text: 'Low on fuel.\nFill up.' },
    ],
  });
  expect(await zed.until((all) => all.find((one) => one.sessionUpdate === 'notice'))).toEqual({
    sessionUpdate: 'notice',
    severity: 'warning',
    title: 'Low on fuel.',
    description: 'Fill up.',
  });
  await runtime.rename(sessionId, 'Later');
  await zed.until((all) =>
    all.find((one) => one.sessionUpdate === 'session_info_update' && one.title === 'Later'),
  );
  expect(updatesOf(zed, 'notice')).toHaveLength(1);
  expect(updatesOf(plain, 'notice')).toEqual([]);
});

test('compactions and terminal output are sent in the form that the editor’s capabilities ask for', async () => {
  const able = { session: { compaction: {} }, _meta: { terminal_output: true } };
  const { zed, editor, sessionId, agent } = await opened({ capabilities: able });
  const plain = await editor();
  await plain.load(sessionId);
  const answered = zed.prompt(sessionId, 'Wait.');
  await zed.until((all) => all.find((one) => one.sessionUpdate === 'available_commands_update'));
  await plain.until((all) => all.find((one) => one.sessionUpdate === 'user_message_chunk'));
  const compacted = { type: 'message', origin: 'system', compaction: 'completed' } as const;
  const note = { ...compacted, id: 'k', content: 'Done so far.' } as const;
  agent.say(sessionId, { type: 'item_done', itemId: 'k', finalItem: note });
  const call = {
    type: 'function_call',
    id: 'c',
    callId: 'c',
    name: 'Bash',
    origin: 'agent',
  } as const;
  const made = { ...call, arguments: '{"command":"ls"}', kind: 'execute' } as const;
  agent.say(sessionId, { type: 'item_done', itemId: 'c', finalItem: made });
  const printed = { type: 'function_call_output', id: 'o', callId: 'c', output: 'a.txt' } as const;
  const output = { ...printed, success: true, origin: 'tool_harness' } as const;
  agent.say(sessionId, { type: 'item_done', itemId: 'o', finalItem: output });
  agent.answer(sessionId, 'Yes.');
  await answered;
  await plain.until(() => plain.agentText.includes('Yes.') || undefined);
  const [rich, poor] = [zed, plain].map(({ updates }) => JSON.stringify(updates));
  expect([rich?.includes('compaction_update'), poor?.includes('compaction_update')]).toEqual([
    true,
    false,
  ]);
  expect([rich?.includes('terminal_output'), poor?.includes('terminal_output')]).toEqual([
    true,
    false,
  ]);
  expect(poor).toContain('a.txt');
});

test('if an editor cancels the request of its prompt, the turn is stopped, and the response says so', async () => {
  const { zed, sessionId, runtime, problems } = await opened();
  const cancelling = new AbortController();
  const prompt = [{ type: 'text' as const, text: 'Wait.' }];
  const answered = zed.agent.request(
    session.prompt,
    { sessionId, prompt },
    { cancellationSignal: cancelling.signal },
  );
  await running(runtime, sessionId);
  cancelling.abort();
  expect(await answered).toMatchObject({ stopReason: 'cancelled' });
  expect(problems).toEqual([]);
});

test('an editor that stops a session without prompts of its own stops the turn of another editor', async () => {
  const { zed, editor, sessionId, runtime } = await opened();
  const other = await editor();
  await other.load(sessionId);
  const answered = zed.prompt(sessionId, 'Wait.');
  await running(runtime, sessionId);
  await other.agent.notify(session.cancel, { sessionId });
  expect(await answered).toMatchObject({ stopReason: 'cancelled' });
});

test('if a session cannot be opened, the editor gets the reason, and the session stays closed until it is opened again', async () => {
  const { editor, sessionId, runtime } = await opened();
  onTestFinished(() => void vi.restoreAllMocks());
  vi.spyOn(runtime, 'attach').mockImplementationOnce(() => {
    throw new Error('The session is full.');
  });
  const other = await editor();
  await expect(other.load(sessionId)).rejects.toThrow('The session is full.');
  await expect(other.prompt(sessionId, 'Answer.')).rejects.toThrow('has not opened the session');
  await other.load(sessionId);
  expect(await other.prompt(sessionId, 'Answer.')).toMatchObject({ stopReason: 'end_turn' });
});

test('an error of a session rejects the request that opens the session, and is a notice afterwards', async () => {
  const { editor, sessionId, runtime } = await opened();
  const message = 'The log is away.\nIt comes back.';
  const failed = { type: 'session:error', sessionId, code: 'SESSION_NOT_FOUND', message } as const;
  const subscribe = runtime.subscribe.bind(runtime);
  const sinks: Sink[] = [];
  vi.spyOn(runtime, 'subscribe')
    .mockImplementationOnce((_id, _options, sink) => {
      sink.send({ message: failed } as Sent);
      return { close() {} } as ReturnType<typeof subscribe>;
    })
    .mockImplementation((id, options, sink) => {
      sinks.push(sink);
      return subscribe(id, options, sink);
    });
  onTestFinished(() => void vi.restoreAllMocks());
  const [other, plain] = [await editor(notices), await editor()];
  await expect(other.load(sessionId)).rejects.toMatchObject({ code: -32_002, message });
  for (const one of [other, plain]) await one.load(sessionId);
  const blank = { ...failed, message: ' \n' };
  for (const sink of sinks) {
    for (const error of [blank, failed]) sink.send({ message: error } as Sent);
  }
  expect(await other.until((all) => all.find((one) => one.sessionUpdate === 'notice'))).toEqual({
    sessionUpdate: 'notice',
    severity: 'error',
    title: 'The log is away.',
    description: 'It comes back.',
  });
  await runtime.rename(sessionId, 'Later');
  await plain.until((all) =>
    all.find((one) => one.sessionUpdate === 'session_info_update' && one.title === 'Later'),
  );
  expect(updatesOf(plain, 'notice')).toEqual([]);
});

test('if a turn begins while an editor loads older turns, the new turn is sent after the older turns', async () => {
  const { zed, editor, sessionId, runtime } = await opened();
  await zed.prompt(sessionId, 'Answer.');
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const subscribe = runtime.subscribe.bind(runtime);
  vi.spyOn(runtime, 'subscribe').mockImplementationOnce((id, options, sink) => {
    const send = (sent: Sent) => {
      const { message } = sent;
      if (message.type !== 'session:history') return sink.send(sent);
      return sink.send({ ...sent, message: { ...message, hasMore: true, before: 'older' } });
    };
    return subscribe(id, options, { ...sink, send });
  });
  vi.spyOn(runtime, 'history').mockImplementationOnce(async () => {
    asked.resolve();
    await answer.promise;
    return { turns: [], entries: [], hasMore: false } as never;
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const other = await editor();
  const loaded = other.load(sessionId);
  await asked.promise;
  await zed.prompt(sessionId, 'Answer again.');
  expect(other.agentText).toBe('');
  answer.resolve();
  await loaded;
  await other.until(() => other.agentText.includes('again') || undefined);
  expect(other.agentText).toBe('Answer. Yes.Answer again. Yes.');
});

test('if the events of a run are no longer available, the editor gets the rest of the run from its items', async () => {
  const { zed, sessionId, agent, runtime } = await opened();
  const [followed, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  vi.spyOn(runtime, 'followRun').mockImplementationOnce(async (runId) => {
    followed.resolve();
    await ended.promise;
    return { kind: 'snapshot', response: await runtime.getRun(runId) };
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const answered = zed.prompt(sessionId, 'Wait.');
  await followed.promise;
  await running(runtime, sessionId);
  agent.answer(sessionId, 'Late.');
  await expect
    .poll(async () => (await runtime.history(sessionId)).turns.at(-1)?.status)
    .toBe('complete');
  ended.resolve();
  expect(await answered).toMatchObject({ stopReason: 'end_turn' });
  expect(zed.agentText).toBe('Late.');
});
