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

/** The stage of one test file: a scripted model, a real server, a real browser. */
export interface Stage {
  /** The proxy between the browsers and the server. */
  readonly network: Network;
  /** Claude Code's model. */
  readonly api: MessagesApi;
  /** Codex's model, if the stage has Codex. */
  readonly codexApi: ResponsesApi;
  /** OpenAI's models, if the stage has them. */
  readonly openAiApi: ResponsesApi;
  readonly server: LiminalServer;
  /** The server's data folder. */
  readonly dataDir: string;
  /** The environment of the server, and of agents that a test starts itself. */
  readonly env: Record<string, string>;
  /** Makes a project folder below the allowed root; returns its path. */
  project(name: string, files?: Record<string, string>): Promise<string>;
  /**
   * A user in a browser, signed in with the server's link. With options, and in long runs, the user has a fresh
   * profile, which is closed when the test ends. Otherwise, the user has the page of an earlier test.
   */
  person(options?: BrowserContextOptions): Promise<Person>;
  /**
   * A session of Claude Code that is shown, and its folder. The session is new in long runs; in other runs, earlier
   * tests have played `turns` turns in it.
   */
  claude(): Promise<{ ada: Person; session: SessionTab; folder: string; turns: number }>;
  /** The command with which an editor starts `liminal acp` with this agent. */
  acpCommand(agent: string): { command: string; args: string[] };
  /** An editor that runs this command; it ends with the test. */
  editor(agent: string): Promise<AcpEditor>;
  /** Allows complaints of pages that this test provokes on purpose. */
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
  /** Whether Claude Code has a key. Default: yes. */
  withKey?: boolean;
  /** Whether Claude Code has a subscription instead of a key. */
  isSubscribed?: boolean;
  /** Adds Codex to the stage, with these options. */
  codex?: CodexHomeOptions;
  /** Adds OpenAI's bare models to the stage; Anthropic's bare models use Claude Code's API. */
  hasOpenAi?: boolean;
  /** More of the server's configuration. */
  config?: Record<string, unknown>;
}

/** Sets up the stage for all tests of the calling file, and removes everything afterwards. */
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
  /** Users who stay for later tests. */
  let waiting: Person[] = [];
  const guests = new Set<Person>();
  let opened: { ada: Person; session: SessionTab; folder: string; id: string } | undefined;
  let expected: RegExp | undefined;
  const set = (): Parts => {
    if (parts === undefined) throw new Error('The stage is set only while tests run.');
    return parts;
  };

  /** Undoes the setup so far, last step first. */
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
      // Forget complaints that the page made about other tests' changes to the server.
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

/** A home folder for Codex, and the environment that selects it. */
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

/** A server that is stopped ends without errors, and none of its agents' processes is left (invariant 8). */
async function endServer(server: LiminalServer): Promise<void> {
  expect(await server.stop()).toBe(0);
  await untilNoProcess(server.pid);
}
