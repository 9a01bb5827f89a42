/**
 * Checks that the rows in `scripts/agent-interfaces/` match the code, and cover every name that the programs declare.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Options } from '@anthropic-ai/claude-agent-sdk';
import type { EventDraft } from '@liminal/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { findAllProblems } from '../../../scripts/agent-interfaces/all.ts';
import * as claude from '../../../scripts/agent-interfaces/claude-code.ts';
import * as codex from '../../../scripts/agent-interfaces/codex.ts';
import { readClaudeNames } from '../../../scripts/agent-interfaces/declared.ts';
import { interfacesPage, sections } from '../../../scripts/agent-interfaces/page.ts';
import { withTerminals } from '../../../scripts/agent-interfaces/terminals.ts';
import {
  findProblems,
  type Section,
  type State,
  statesOf,
} from '../../../scripts/agent-interfaces/row.ts';
import {
  ClaudeSession,
  type ClaudeSessionOptions,
} from '../src/kinds/claude-code/claude-session.ts';
import { ProjectInUse } from '../src/kinds/claude-code/project-in-use.ts';
import type { ClaudeSdk } from '../src/kinds/claude-code/sdk.ts';
import { askOutput } from '../src/kinds/claude-code/task-output.ts';
import type { AppServer } from '../src/kinds/codex/app-server.ts';
import { CodexSession } from '../src/kinds/codex/codex-session.ts';
import { CodexRequests } from '../src/kinds/codex/requests.ts';
import { Rollouts } from '../src/kinds/codex/rollouts.ts';
import { CodexSettings, readOpened } from '../src/kinds/codex/settings.ts';
import { ThreadItem } from '../src/kinds/codex/translate/wire.ts';
import type { SessionUpdate } from '../src/contract/provider.ts';

test('every name that the SDK and Codex declare has exactly one row, and no other name has a row', () => {
  expect(findAllProblems()).toEqual([]);
});

test('a message type that a new SDK adds or drops is reported as a problem', async () => {
  const declared = new URL(
    '../../../node_modules/@anthropic-ai/claude-agent-sdk/sdk.d.ts',
    import.meta.url,
  );
  const types = await readFile(declared, 'utf8');
  const changed = types.replace(
    'declare type SDKMessage = SDKAssistantMessage | ',
    'declare type SDKMessage = SDKNewMessage | ',
  );
  const added = "\ndeclare type SDKNewMessage = {\n    type: 'system';\n    subtype: 'new';\n};\n";
  const { messages } = readClaudeNames(changed + added);
  expect(findProblems(claude.claudeMessages, messages)).toEqual([
    'Claude Code: messages: system/new is declared, but has no row.',
    'Claude Code: messages: assistant has a row, but is no longer declared.',
  ]);
});

test('docs/agent-interfaces.md has the current rows', async () => {
  const page = await readFile(
    new URL('../../../docs/agent-interfaces.md', import.meta.url),
    'utf8',
  );
  expect(page).toBe(interfacesPage(sections));
});

test('docs/terminal-commands.md has the current commands and keys of the terminals', async () => {
  const page = await readFile(
    new URL('../../../docs/terminal-commands.md', import.meta.url),
    'utf8',
  );
  expect(page).toBe(withTerminals(page));
});

const withState = (section: Section, ...wanted: State[]): string[] =>
  [...statesOf(section)].flatMap(([name, state]) => (wanted.includes(state) ? [name] : []));

/** Starts a session of a scripted Claude Code. `asked` collects the members of the query that the session has used. */
async function startClaude(more: Partial<ClaudeSessionOptions> = {}) {
  const said = new TransformStream<unknown, unknown>();
  const writer = said.writable.getWriter();
  const asked = new Set<string>();
  const answers: Record<string, unknown> = { models: [], commands: [], canRewind: true };
  let given: Options = {};
  const query = ({ options }: { options: Options }): unknown => {
    given = options;
    const messages = said.readable.values();
    return new Proxy(messages, {
      get: (target, name) => {
        if (Reflect.has(target, name)) return Reflect.get(target, name).bind(target);
        asked.add(String(name));
        if (name === 'close') return () => void writer.close().catch(() => undefined);
        return async () => (name === 'mcpServerStatus' ? [] : answers);
      },
    });
  };
  const drafts: EventDraft[] = [];
  const updates: SessionUpdate[] = [];
  const session = await ClaudeSession.start(
    {
      projectDir: '/project',
      agentSessionId: 's',
      resume: false,
      config: { mode: 'plan', model: 'a', thinking: 'high' },
      env: { IS_SANDBOX: '1' },
      mcpServers: {},
      appendSystemPrompt: undefined,
      program: '/program',
      runsUserCommands: true,
      project: await ProjectInUse.decide(import.meta.dirname, {}, undefined),
      marks: { noteSent: () => undefined },
      output: {
        emit: (draft) => drafts.push(draft),
        update: (update) => updates.push(update),
        exit: () => undefined,
      },
      ...more,
    },
    new AbortController().signal,
    async () => ({ query }) as unknown as ClaudeSdk,
  );
  onTestFinished(() => session.close());
  const say = async (...all: unknown[]): Promise<void> => {
    for (const message of [...all, { type: 'keep_alive' }]) await writer.write(message);
  };
  return { session, asked, options: given, drafts, updates, say };
}

test('the options of a session of Claude Code are those in rows marked “used”', async () => {
  const first = await startClaude();
  const resumed = await startClaude({ resume: true });
  const set = new Set(Object.keys({ ...first.options, ...resumed.options }));
  expect([...set].toSorted()).toEqual(withState(claude.claudeOptions, 'used').toSorted());
});

/**
 * For each request, the method of the query or the option with which the code makes or answers the request. A request
 * is absent here if the SDK has no method or option for it.
 */
const wayOf: Record<string, string> = {
  initialize: 'initializationResult',
  interrupt: 'interrupt',
  can_use_tool: 'canUseTool',
  set_permission_mode: 'setPermissionMode',
  set_model: 'setModel',
  set_max_thinking_tokens: 'setMaxThinkingTokens',
  mcp_status: 'mcpServerStatus',
  mcp_reconnect: 'reconnectMcpServer',
  mcp_toggle: 'toggleMcpServer',
  mcp_set_servers: 'setMcpServers',
  mcp_read_resource: 'readMcpResource',
  get_context_usage: 'getContextUsage',
  get_hooks_listing: 'getHooksListing',
  list_permission_rules: 'listPermissionRules',
  get_usage: 'usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET',
  hook_callback: 'hooks',
  rewind_files: 'rewindFiles',
  cancel_async_message: 'cancelAsyncMessage',
  read_file: 'readFile',
  seed_read_state: 'seedReadState',
  reload_plugins: 'reloadPlugins',
  reload_skills: 'reloadSkills',
  reload_output_styles: 'reloadOutputStyles',
  stop_task: 'stopTask',
  rename_session: 'renameSession',
  background_tasks: 'backgroundTasks',
  apply_flag_settings: 'applyFlagSettings',
  get_settings: 'getSettings',
  update_settings: 'updateSettings',
  elicitation: 'onElicitation',
  request_user_dialog: 'onUserDialog',
};

test('the methods and requests that a session of Claude Code uses are those in rows marked “used”', async () => {
  const { session, asked, options, drafts, say } = await startClaude();
  await say(
    { type: 'system', subtype: 'status', status: 'requesting' },
    {
      type: 'system',
      subtype: 'task_started',
      task_id: 'a',
      task_type: 'local_bash',
      description: 'x',
    },
    {
      type: 'system',
      subtype: 'background_tasks_changed',
      tasks: [{ task_id: 'a', task_type: 'local_bash', description: 'x' }],
    },
  );
  await session.setConfigOption('model', 'a');
  await session.setConfigOption('mode', 'plan');
  await session.setConfigOption('thinking', 'high');
  await session.rewindFiles('turn', true);
  await session.stopTask('a');
  await session.listMcpServers();
  await session.setup();
  await session.background('a');
  await session.rename('b');
  await session.changeMcpServer('a', 'on');
  await session.changeMcpServer('a', 'reconnect');
  await session.steer('words', { turnId: drafts[0]?.turnId ?? '', messageId: 'b' }, []);
  await session.cancel();
  await session.close();

  const methods = withState(claude.claudeMethods, 'used', 'not used');
  const called = methods.filter((name) => asked.has(name));
  expect(called.toSorted()).toEqual(withState(claude.claudeMethods, 'used').toSorted());

  const output: object[] = [];
  const query = { request: async (request: object) => output.push(request) };
  await askOutput(query as never, 'a');
  expect(output).toMatchObject([{ subtype: 'get_task_output' }]);
  const requests = withState(claude.claudeRequests, 'used', 'not used');
  const made = requests.filter((name) => {
    const way = wayOf[name];
    return name === 'get_task_output' || (way !== undefined && (asked.has(way) || way in options));
  });
  expect(made.toSorted()).toEqual(withState(claude.claudeRequests, 'used').toSorted());
});

/** A message that has the fields of all message types. */
const talkative = {
  session_id: 's',
  uuid: 'u',
  content: 'words',
  text: 'words',
  message: 'words',
  summary: 'words',
  description: 'words',
  level: 'warning',
  status: 'failed',
  error: 'words',
  task_id: 'a',
  tool_use_id: 'a',
  hook_name: 'Stop',
  outcome: 'error',
  stderr: 'words',
  is_error: true,
};

/** Messages that are shown only if they have other fields than `talkative`. */
const samples: Record<string, object> = {
  assistant: { message: { id: 'm', model: 'm', content: [{ type: 'text', text: 'words' }] } },
  user: {
    message: {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'call', content: 'y' }],
    },
  },
  stream_event: {
    event: { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  },
  'system/background_tasks_changed': {
    tasks: [{ task_id: 'b', task_type: 'local_bash', description: 'sleep' }],
  },
  'system/task_progress': { ...talkative, description: 'further' },
  'system/permission_denied': { tool_name: 'Bash', decision_reason: 'words' },
  'system/memory_recall': { memories: [{ path: '/notes.md' }] },
  'system/session_writes_lost': { error_code: 'ENOSPC' },
  active_goal: { value: { condition: 'ship it' } },
  rate_limit_event: { rate_limit_info: { status: 'rejected', rateLimitType: 'five_hour' } },
};

/**
 * Returns the effect of a message that arrives in a turn with a running task, a running tool and an open model message.
 */
async function effectOf(name: string) {
  const { drafts, updates, say } = await startClaude();
  const tasks = [{ task_id: 'a', task_type: 'local_agent', description: 'x' }];
  const call = { type: 'tool_use', id: 'call', name: 'Read', input: {} };
  await say(
    { type: 'system', subtype: 'status', status: 'requesting' },
    { type: 'system', subtype: 'background_tasks_changed', tasks },
    { type: 'assistant', message: { id: 'before', model: 'm', content: [call] } },
    { type: 'stream_event', event: { type: 'message_start', message: { id: 'm', model: 'm' } } },
  );
  const before = [drafts.length, updates.length];
  const [type, subtype] = name.split('/');
  await say({ ...(samples[name] ?? talkative), type, ...(subtype !== undefined && { subtype }) });
  const done = [...drafts.slice(before[0]), ...updates.slice(before[1])];
  await say({ type: 'result', subtype: 'success', is_error: false, num_turns: 1 });
  return { done, isKept: JSON.stringify(drafts).includes(`"subtype":"${subtype}"`) };
}

test.for([...statesOf(claude.claudeMessages)])(
  'the message %s of Claude Code is %s',
  async ([name, state]) => {
    const { done, isKept } = await effectOf(name);
    const isSilent = done.length === 0;
    // A message marked “used” may change only internal state.
    const isOpen = state === 'used' && !name.startsWith('result/');
    const mustBeSilent = state === 'passed by' || state === 'kept';
    expect({ isKept, isSilent }).toEqual({
      isKept: state === 'kept',
      isSilent: isOpen ? isSilent : mustBeSilent,
    });
  },
);

const opened = {
  thread: { id: 'thread', turns: [] },
  model: 'm',
  modelProvider: 'p',
  cwd: '/project',
  approvalPolicy: 'on-request',
  sandbox: { type: 'readOnly' },
};

/** Starts a Codex session with a running turn, and collects the effects of notifications. */
async function startCodex() {
  const drafts: EventDraft[] = [];
  const updates: SessionUpdate[] = [];
  const requests: string[] = [];
  const request = async (
    method: string,
    _params: unknown,
    take?: (answer: unknown) => unknown,
  ): Promise<unknown> => {
    requests.push(method);
    const answer = { turn: { id: 'turn', status: 'inProgress' } };
    return take === undefined ? answer : take(answer);
  };
  const settings = readOpened(opened);
  if (settings === undefined)
    throw new Error('The response with the opened thread could not be read.');
  const session = new CodexSession({
    server: { request, tryRequest: request } as unknown as AppServer,
    threadId: 'thread',
    projectDir: '/project',
    output: {
      emit: (draft) => drafts.push(draft),
      update: (update) => updates.push(update),
      exit: () => undefined,
    },
    settings: new CodexSettings(settings),
    rollouts: new Rollouts({ CODEX_HOME: '/nowhere' }),
    runsUserCommands: true,
    startThread: () => Promise.reject(new Error('This test’s Codex starts no other thread.')),
    leave: async () => {},
  });
  await session.send('words', 'ours');
  session.onNotification('turn/started', { threadId: 'thread', turn: { id: 'turn' } });
  return { session, drafts, updates, requests };
}

test('notifications of Codex in rows marked “passed by” have no effect', async () => {
  const { session, drafts, updates, requests } = await startCodex();
  const before = [drafts.length, updates.length, requests.length];
  const item = { type: 'agentMessage', id: 'item', text: 'words' };
  for (const method of withState(codex.codexNotifications, 'passed by')) {
    const params = { threadId: 'thread', turnId: 'turn', itemId: 'item', item, delta: 'words' };
    session.onNotification(method, { ...params, message: 'words', text: 'words' });
    expect([method, drafts.length, updates.length, requests.length]).toEqual([method, ...before]);
  }
});

/** Returns the names that are literals in the requests and comparisons of the code for Codex. */
async function namesInCode(): Promise<Set<string>> {
  const folder = new URL('../src/kinds/codex/', import.meta.url).pathname;
  const files = (await readdir(folder, { recursive: true })).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  );
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  const literal = /'([a-zA-Z]+(?:\/\w+)+)'|(?:case|===|request\(|notify\()\s*'(\w+)'/g;
  return new Set(
    texts.flatMap((text) =>
      [...text.matchAll(literal)].map(([, one, other]) => one ?? other ?? ''),
    ),
  );
}

test('the requests and notifications that the code for Codex names are those in rows marked “used” or “shown”', async () => {
  const inCode = await namesInCode();
  for (const section of [codex.codexRequests, codex.codexNotifications]) {
    const named = [...statesOf(section).keys()].filter((name) => inCode.has(name));
    expect(named.toSorted()).toEqual(withState(section, 'used', 'shown').toSorted());
  }
});

test('Codex gets answers to requests in rows marked “used”, and errors as answers to other requests', async () => {
  const requests = new CodexRequests(async () => ({ outcome: 'cancelled', reason: 'turn_ended' }));
  const { signal } = new AbortController();
  for (const [name, state] of statesOf(codex.codexServerRequests)) {
    const answer = await Promise.try(() => requests.serve(name, {}, signal)).catch(String);
    const isRefused = answer === `Error: Liminal does not support ${name}.`;
    expect([name, isRefused]).toEqual([name, state === 'not used']);
  }
});

test('the items of Codex that are translated are those in rows marked “shown”', () => {
  for (const [type, state] of statesOf(codex.codexItems)) {
    expect([type, ThreadItem.safeParse({ type, id: 'a' }).success]).toEqual([
      type,
      state === 'shown',
    ]);
  }
});
