import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  claudeEnvironment,
  codexEnvironment,
  type CodexHomeOptions,
  makeCodexHome,
  type MessagesApi,
  type ResponsesApi,
  startMessagesApi,
  startResponsesApi,
} from '@liminal/testkit';
import { AcpEditor } from '@liminal/testkit/acp-editor';
import { atLength } from '@liminal/testkit/at-length';
import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { sharedChromium, visit } from './browser.ts';
import { saveEvidence } from './evidence.ts';
import { type Network, openNetwork } from './network.ts';
import type { Person } from './person.ts';
import type { SessionTab } from './session-tab.ts';
import { untilNoProcess } from './process-table.ts';
import { liminal, LiminalServer } from './server.ts';

/** The stage of one test file: a scripted model, a real server and a real browser. */
export interface Stage {
  /** The proxy between the browsers and the server. */
  readonly network: Network;
  /** Claude Code's model. */
  readonly api: MessagesApi;
  /** The model behind Codex, if the stage includes Codex. */
  readonly codexApi: ResponsesApi;
  /** The models of OpenAI, if the stage includes them. */
  readonly openAiApi: ResponsesApi;
  readonly server: LiminalServer;
  /** The server's data folder. */
  readonly dataDir: string;
  /** The environment of the server. Agents that a test starts itself also use this environment. */
  readonly env: Record<string, string>;
  /** Makes a project folder below the allowed root. Returns the folder's path. */
  project(name: string, files?: Record<string, string>): Promise<string>;
  /**
   * Returns a user in a browser that is signed in with the server's link. In long runs, and if options are given, the
   * user has a new profile, which is closed when the test ends. Otherwise the user has the page of an earlier test.
   */
  person(options?: BrowserContextOptions): Promise<Person>;
  /**
   * Returns the shown session of Claude Code, and its folder. In long runs the session is new. In short runs, earlier
   * tests have played `turns` turns in the session.
   */
  claude(): Promise<{ ada: Person; session: SessionTab; folder: string; turns: number }>;
  /** The command with which an editor starts `liminal acp` with this agent. */
  acpCommand(agent: string): { command: string; args: string[] };
  /** Starts an editor that runs this command. The editor ends with the test. */
  editor(agent: string): Promise<AcpEditor>;
  /** Allows error messages of pages that this test causes on purpose. */
  expectComplaints(pattern: RegExp): void;
}

interface Parts {
  root: string;
  dataDir: string;
  api: MessagesApi;
  codexApi: ResponsesApi | undefined;
  openAiApi: ResponsesApi | undefined;
  server: LiminalServer;
  network: Network;
}

export interface StageOptions {
  /** Whether Claude Code has a key. The default is yes. */
  withKey?: boolean;
  /** Whether Claude Code has a subscription instead of a key. */
  isSubscribed?: boolean;
  /** If present, the stage also has Codex, with these options. */
  codex?: CodexHomeOptions;
  /** Adds OpenAI's bare models to the stage. Anthropic's bare models use the API of Claude Code's model. */
  hasOpenAi?: boolean;
  /** Additional configuration of the server. */
  config?: Record<string, unknown>;
}

/** Sets up the stage for all tests of the calling file. Removes the stage afterwards. */
export function useStage({
  withKey = true,
  isSubscribed = false,
  codex,
  hasOpenAi = false,
  config: more = {},
}: StageOptions = {}): Stage {
  let parts: Parts | undefined;
  let env: Record<string, string> = {};
  let people: Person[] = [];
  const editors: AcpEditor[] = [];
  /** Users whom later tests use again. */
  let waiting: Person[] = [];
  const guests = new Set<Person>();
  let opened: { ada: Person; session: SessionTab; folder: string; id: string } | undefined;
  let expected: RegExp | undefined;
  const set = (): Parts => {
    if (parts === undefined) throw new Error('The stage is set only while tests run.');
    return parts;
  };

  /** Undoes the setup so far. The last step is undone first. */
  const undo: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'liminal-e2e-')));
    undo.push(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));
    const home = join(root, 'home');
    const code = join(root, 'code');
    const dataDir = join(root, 'data');
    for (const folder of [home, code, dataDir]) await mkdir(folder);
    const config = { roots: [code], endLimitMs: 0, allowedHosts: ['127.0.0.1'], ...more };
    await writeFile(join(dataDir, 'liminal.json'), JSON.stringify(config));

    const api = await startMessagesApi({ script: [] });
    undo.push(() => api.close());
    env = claudeEnvironment(home, api.url);
    if (!withKey || isSubscribed) delete env['ANTHROPIC_API_KEY'];
    if (isSubscribed) env['CLAUDE_CODE_OAUTH_TOKEN'] = 'sk-ant-oat01-fake';
    const codexApi = codex && (await startResponsesApi({ script: [] }));
    if (codexApi !== undefined) {
      undo.push(() => codexApi.close());
      Object.assign(env, await codexWorld(home, codexApi.url, codex));
    }
    const openAiApi = hasOpenAi ? await startResponsesApi({ script: [] }) : undefined;
    if (openAiApi !== undefined) {
      undo.push(() => openAiApi.close());
      Object.assign(env, { OPENAI_BASE_URL: openAiApi.url, OPENAI_API_KEY: 'fake' });
    }
    const server = await LiminalServer.start({ dataDir, env });
    undo.push(() => endServer(server));
    const network = await openNetwork(Number(new URL(server.link).port));
    undo.push(() => network.close());
    parts = { root, dataDir, api, codexApi, openAiApi, server, network };
  });

  afterEach(async ({ task }) => {
    const there = editors.splice(0).filter((editor) => !editor.wasKilled);
    const left = there.map(async (editor) => editor.end());
    if (task.result?.state === 'fail') await saveEvidence(task.name, people, set().server.log);
    const complaints = people.flatMap((person) => person.problems);
    const stays = (person: Person) => task.result?.state === 'pass' && !guests.has(person);
    await Promise.all(people.map(async (person) => stays(person) || person.leave()));
    waiting = [...people.filter(stays), ...waiting];
    people = [];
    const allowed = expected;
    expected = undefined;
    expect(complaints.filter((complaint) => allowed?.test(complaint) !== true)).toEqual([]);
    expect(await Promise.all(left)).toEqual(left.map(() => 0));
  });

  afterAll(async () => {
    await Promise.all(waiting.map((person) => person.leave()));
    for (const step of undo.splice(0).toReversed()) await step();
  });

  const project: Stage['project'] = async (name, files = {}) => {
    const folder = join(set().root, 'code', name);
    await mkdir(folder, { recursive: true });
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
    return folder;
  };

  const acpCommand: Stage['acpCommand'] = (agent) => ({
    command: process.execPath,
    args: [liminal, 'acp', '--agent', agent, '--data', set().dataDir],
  });

  const person: Stage['person'] = async (options) => {
    const isGuest = atLength || options !== undefined;
    const back = isGuest ? undefined : waiting.shift();
    if (back !== undefined) {
      people.push(back);
      await back.closeTabs();
      back.received.length = 0;
      // Forget error messages that the page printed because other tests changed the server.
      back.problems.length = 0;
      return back;
    }
    const address = new URL(set().server.link);
    address.port = String(set().network.port);
    const made = await visit(await sharedChromium(), address.href, options);
    people.push(made);
    if (isGuest) guests.add(made);
    await made.sidebar.waitFor();
    return made;
  };

  return {
    get api() {
      return set().api;
    },
    get codexApi() {
      const { codexApi } = set();
      if (codexApi === undefined) throw new Error('Codex is not on this stage.');
      return codexApi;
    },
    get openAiApi() {
      const { openAiApi } = set();
      if (openAiApi === undefined) throw new Error('OpenAI’s models are not on this stage.');
      return openAiApi;
    },
    get server() {
      return set().server;
    },
    get network() {
      return set().network;
    },
    get dataDir() {
      return set().dataDir;
    },
    get env() {
      return env;
    },
    project,
    person,
    claude: async () => {
      const ada = await person();
      if (opened?.ada === ada) {
        const { session, folder } = opened;
        await ada.page.locator(`a[href*="${opened.id}"]`).first().click();
        await ada.page.waitForURL((url) => url.pathname.includes(opened!.id));
        await session.untilEnded(1);
        return { ada, session, folder, turns: await session.turns.count() };
      }
      const folder = await project('shared');
      const session = await ada.startSession({ folder });
      opened = { ada, session, folder, id: session.id };
      return { ada, session, folder, turns: 0 };
    },
    acpCommand,
    editor: async (agent) => {
      const editor = new AcpEditor({ ...acpCommand(agent), cwd: set().root, env });
      editors.push(editor);
      await editor.initialize();
      return editor;
    },
    expectComplaints: (pattern) => {
      expected = pattern;
    },
  };
}

/** Creates a home folder for Codex, and the environment with which Codex uses this folder. */
async function codexWorld(
  home: string,
  apiUrl: string,
  options: CodexHomeOptions | undefined,
): Promise<Record<string, string>> {
  const env = codexEnvironment(home);
  for (const folder of [env['TMPDIR'], env['CODEX_HOME']])
    if (folder !== undefined) await mkdir(folder, { recursive: true });
  await makeCodexHome(join(home, '.codex'), apiUrl, options);
  return env;
}

/**
 * Stops the server. Checks that the server ends without errors, and that no process of its agents is left (invariant
 * 8).
 */
async function endServer(server: LiminalServer): Promise<void> {
  expect(await server.stop()).toBe(0);
  await untilNoProcess(server.pid);
}
