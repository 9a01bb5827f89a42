/** Runs the scenario with the real Codex, in its own terminal and through Liminal. */
import { randomUUID } from 'node:crypto';
import { globSync } from 'node:fs';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import {
  codexBinary,
  codexEnvironment,
  makeCodexHome,
  makeWorkspace,
  type ModelScript,
  pixel,
  type ResponsesApi,
  startResponsesApi,
  type Workspace,
} from '@liminal/testkit';
import { Terminal } from '@liminal/testkit/terminal';
import { DriverProvider } from '../../src/base/driver-provider.ts';
import { CodexDriver } from '../../src/kinds/codex/index.ts';
import { endTree } from '../../src/process/index.ts';
import { Listener } from '../acp/running-agent.ts';
import type { Own } from './compare.ts';
import { notedGreeter, withGreeter } from './greeter-starts.ts';
import type { ScenarioUser, Release } from './story.ts';

export interface CodexStage {
  api: ResponsesApi;
  workspace: Workspace;
  env: Record<string, string>;
  own: Own;
  /** The id that Codex gave the first thread. */
  threadId(): string;
  close(): Promise<void>;
}

/** Values that Codex generates for each run. */
const ownOfAll: Own = [
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID'],
  [/(?<=\.id: )resp_\d+/g, 'RESPONSE'],
  [/(?<=Wall time: )[\d.]+/g, 'SECONDS'],
  [/(?<=Chunk ID: )\w+/g, 'CHUNK'],
  [/(?<="nickname":"|- ID: )[^"]+/g, 'NAME'],
  [/(?<=session ID |"session_id":)\d+/g, 'PROCESS'],
];

export async function makeCodexStage(script: ModelScript): Promise<CodexStage> {
  const workspace = await makeWorkspace({
    'AGENTS.md': 'In this project, use tabs.',
    'pixel.png': Buffer.from(pixel, 'base64'),
  });
  const { home, projectDir } = workspace;
  const api = await startResponsesApi({ script });
  const folder = join(home, '.codex');
  await makeCodexHome(folder, api.url);
  const door = notedGreeter(home);
  await appendFile(
    join(folder, 'config.toml'),
    `
[projects.${JSON.stringify(projectDir)}]
trust_level = "trusted"

[mcp_servers.door]
command = ${JSON.stringify(door.command)}
args = ${JSON.stringify(door.args)}
env = { GREETING = "Hello" }
`,
  );
  const env = codexEnvironment(home);
  await mkdir(env['TMPDIR'] ?? home, { recursive: true });
  const threadId = (): string => {
    const files = globSync(join(folder, 'sessions/*/*/*/rollout-*.jsonl')).toSorted();
    return /([0-9a-f-]{36})\.jsonl$/.exec(files[0] ?? '')?.[1] ?? '';
  };
  const close = async (): Promise<void> => {
    await api.close();
    await workspace.remove();
  };
  const own = [[basename(dirname(home)), 'ROOT'], ...ownOfAll] as const;
  return { api, workspace, env, own, threadId, close };
}

const release = (stage: CodexStage): Promise<void> =>
  writeFile(join(stage.workspace.projectDir, 'go'), '');

export class CodexInTerminal implements ScenarioUser {
  readonly #stage: CodexStage;
  #terminal!: Terminal;

  constructor(stage: CodexStage) {
    this.#stage = stage;
  }

  get screen(): string {
    return this.#terminal.screen;
  }

  async #begin(...args: string[]): Promise<void> {
    const { workspace, env } = this.#stage;
    // Runs Codex without its background service, because the service would keep the thread open after the terminal has
    // ended.
    const command = [codexBinary(), '--no-daemon', ...args];
    await withGreeter(workspace.home, async () => {
      this.#terminal = new Terminal(command, { cwd: workspace.projectDir, env });
      await this.#terminal.shows(/Ask Codex[^]*Scripted default/);
    });
  }

  begin(): Promise<void> {
    return this.#begin();
  }

  /** The terminal's help screen with its keys. */
  async help(): Promise<string> {
    this.#terminal.press('?');
    await this.#terminal.shows(/customize/);
    return this.screen;
  }

  async send(text: string, answer: string): Promise<void> {
    await this.#type(text);
    await this.#answered(answer);
  }

  async #type(text: string): Promise<void> {
    this.#terminal.press(text);
    await this.#terminal.shows((screen) => composer(screen).includes(text.trim()));
    this.#terminal.press('\r');
  }

  async #answered(answer: string): Promise<void> {
    await this.#terminal.shows((screen) =>
      /Worked for/.test(screen.split(`• ${answer}`).at(1) ?? ''),
    );
  }

  async showImage(text: string, answer: string): Promise<void> {
    this.#terminal.paste(join(this.#stage.workspace.projectDir, 'pixel.png'));
    await this.#terminal.shows(/\[Image #1\]/);
    await this.send(text, answer);
  }

  async background(text: string, answer: string, what: Release, then: string): Promise<void> {
    if (what === 'agent') return this.send(text, then);
    await this.send(text, answer);
    await release(this.#stage);
    await this.send('Has it ended?', then);
  }

  async plan(text: string, answer: string): Promise<void> {
    // Codex may lose keys that are pressed before it reads the keyboard, so a letter is pressed until it is shown.
    this.#terminal.press('x');
    await this.#terminal.shows(/› x/);
    this.#terminal.press('\u007F\u001b[Z');
    await this.#terminal.shows(/Plan mode/);
    await this.#type(text);
    await this.#terminal.shows(/Implement this plan\?/);
    this.#terminal.press('\r');
    await this.#answered(answer);
  }

  /** Requests a plan, and has the plan implemented in a new thread. */
  async planAfresh(text: string, answer: string): Promise<void> {
    this.#terminal.press('\u001b[Z');
    await this.#terminal.shows(/Plan mode/);
    await this.#type(text);
    await this.#terminal.shows(/› 1\. Yes, implement this plan/);
    this.#terminal.press('\u001b[B');
    await this.#terminal.shows(/› 2\. Yes, clear context and implement/);
    await withGreeter(this.#stage.workspace.home, async () => this.#terminal.press('\r'));
    await this.#answered(answer);
  }

  async compact(): Promise<void> {
    await this.#type('/compact');
    await this.#terminal.shows(/Context compacted/);
  }

  async resume(): Promise<void> {
    await this.#leave();
    await this.#begin('resume', this.#stage.threadId());
  }

  async fork(): Promise<void> {
    await this.#leave();
    await this.#begin('fork', this.#stage.threadId());
  }

  async #leave(): Promise<void> {
    this.#terminal.press('\u0003');
    await this.#terminal.ended;
  }

  async close(): Promise<void> {
    await endTree({ child: this.#terminal.child });
    await this.#terminal.ended;
  }
}

/** The text that was typed but not sent. */
const composer = (screen: string): string =>
  screen.split('\n').findLast((row) => row.startsWith('›')) ?? '';

export class CodexInLiminal implements ScenarioUser {
  readonly #stage: CodexStage;
  readonly #provider: DriverProvider<CodexDriver>;
  #listener: Listener;

  constructor(stage: CodexStage) {
    this.#stage = stage;
    this.#provider = new DriverProvider(new CodexDriver({ inherited: stage.env }));
    this.#listener = new Listener(this.#provider, randomUUID());
  }

  async begin(): Promise<void> {
    const { projectDir } = this.#stage.workspace;
    const { sessionId } = this.#listener;
    await this.#open(() => this.#provider.createSession({ projectDir, sessionId, projectTrust }));
  }

  async send(text: string, answer: string): Promise<void> {
    await this.#listener.send(text);
    await this.#answered(answer);
  }

  /** Waits until a turn that contains this answer has ended. */
  async #answered(answer: string): Promise<void> {
    const { events } = this.#listener;
    const { turnId } = await this.#listener.until(() =>
      events.find(
        ({ payload }) => payload.type === 'item_done' && JSON.stringify(payload).includes(answer),
      ),
    );
    await this.#listener.ended(turnId);
  }

  async showImage(text: string, answer: string): Promise<void> {
    await this.#listener.send(text, [{ type: 'image', mimeType: 'image/png', data: pixel }]);
    await this.#answered(answer);
  }

  async background(text: string, answer: string, what: Release, then: string): Promise<void> {
    if (what === 'agent') return this.send(text, then);
    await this.send(text, answer);
    await release(this.#stage);
    await this.send('Has it ended?', then);
  }

  async plan(text: string, answer: string): Promise<void> {
    await this.#plan(text, 'implement');
    await this.#answered(answer);
  }

  /** Requests a plan, and has the plan implemented in a new thread. */
  async planAfresh(text: string, answer: string): Promise<void> {
    await withGreeter(this.#stage.workspace.home, () => this.#plan(text, 'clear'));
    await this.#answered(answer);
  }

  async #plan(text: string, optionId: string): Promise<void> {
    const { sessionId } = this.#listener;
    await this.#provider.setConfigOption?.(sessionId, 'collaboration_mode', 'plan');
    await this.#listener.send(text);
    const { payload } = await this.#listener.until(() =>
      this.#listener.events.find(
        (one) => one.payload.type === 'item_start' && one.payload.itemType === 'approval',
      ),
    );
    const approvalId = payload.type === 'item_start' ? (payload.approvalId ?? '') : '';
    await this.#provider.answerApproval?.(sessionId, approvalId, { optionId });
  }

  async compact(): Promise<void> {
    await this.#listener.ask('/compact');
  }

  async resume(): Promise<void> {
    const { sessionId } = this.#listener;
    await this.#provider.killSession(sessionId);
    await this.#open(() => this.#provider.loadSession(sessionId, { projectTrust }));
  }

  async fork(): Promise<void> {
    const { projectDir } = this.#stage.workspace;
    await this.#provider.killSession(this.#listener.sessionId);
    const threadId = this.#stage.threadId();
    const turns = await this.#provider.readStoredHistory!(threadId, projectDir);
    const { agentSessionId = '' } = await this.#provider.fork!(
      threadId,
      projectDir,
      turns.at(-1)!.turnId,
    );
    this.#listener = new Listener(this.#provider, randomUUID());
    const { sessionId } = this.#listener;
    await this.#open(() =>
      this.#provider.loadSession(sessionId, { projectDir, agentSessionId, projectTrust }),
    );
  }

  #open(open: () => Promise<unknown>): Promise<void> {
    return withGreeter(this.#stage.workspace.home, async () => void (await open()));
  }

  async close(): Promise<void> {
    await this.#provider.close();
  }
}

const projectTrust = {
  uses: async () => true,
  started: () => undefined,
  changed: async () => undefined,
};
