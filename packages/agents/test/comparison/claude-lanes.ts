/** Runs the scenario with the real Claude Code, in its own terminal and through Liminal. */
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { basename, dirname, join } from 'node:path';
import {
  claudeEnvironment,
  type Gate,
  gate,
  greeter,
  makeWorkspace,
  type MessagesApi,
  pixel,
  type Script,
  startMessagesApi,
  type Workspace,
} from '@liminal/testkit';
import { isTerminal } from '@liminal/protocol';
import { Terminal } from '@liminal/testkit/terminal';
import { vi } from 'vitest';
import { DriverProvider } from '../../src/base/driver-provider.ts';
import { ClaudeDriver } from '../../src/kinds/claude-code/index.ts';
import { installedClaude } from '../../src/kinds/claude-code/program.ts';
import { endTree } from '../../src/process/index.ts';
import type { Own } from './compare.ts';
import type { ScenarioUser, Release } from './story.ts';
import { ClaudeListener, messagesOf } from '../claude-code/running-claude.ts';

export interface Stage {
  api: MessagesApi;
  workspace: Workspace;
  env: Record<string, string>;
  sessionId: string;
  own: Own;
  release(what: Release): Promise<void>;
  close(): Promise<void>;
}

const files = {
  'CLAUDE.md': 'In this project, use tabs.',
  'pixel.png': Buffer.from(pixel, 'base64'),
  '.mcp.json': JSON.stringify({
    mcpServers: { door: greeter() },
  }),
};

const settings = {
  permissions: {
    defaultMode: 'default',
    disableAutoMode: 'disable',
    allow: ['mcp__door', 'Bash'],
  },
  enableAllProjectMcpServers: true,
};

/** Values that Claude Code generates for each run. */
const ownOfAll: Own = [
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'SESSION'],
  [/(?<="device_id":")\w+/g, 'DEVICE'],
  [/(?<=\/plans\/)[\w-]+(?=\.md)/g, 'PLAN'],
  [/\b(?=\w*\d)(a[0-9a-f]{16}|b[0-9a-z]{8})\b/g, 'TASK'],
  [/(?<=<duration_ms>)\d+/g, 'MS'],
];

export async function makeStage(makeScript: (agent: Gate) => Script): Promise<Stage> {
  const agent = gate();
  const workspace = await makeWorkspace(files);
  const api = await startMessagesApi({ script: makeScript(agent) });
  const env = claudeEnvironment(workspace.home, api.url);
  const folder = join(workspace.home, '.claude');
  await mkdir(folder);
  await writeFile(join(folder, 'settings.json'), JSON.stringify(settings));
  // With these settings, the first start in the terminal asks no questions.
  await writeFile(
    join(folder, '.claude.json'),
    JSON.stringify({
      hasCompletedOnboarding: true,
      customApiKeyResponses: { approved: ['scripted'], rejected: [] },
      projects: { [workspace.projectDir]: { hasTrustDialogAccepted: true } },
    }),
  );
  const close = async (): Promise<void> => {
    await api.close();
    await workspace.remove();
  };
  const own = [[basename(dirname(workspace.home)), 'ROOT'], ...ownOfAll] as const;
  const release = async (what: Release): Promise<void> => {
    if (what === 'agent') agent.open();
    else await writeFile(join(workspace.projectDir, 'go'), '');
  };
  return { api, workspace, env, sessionId: randomUUID(), own, release, close };
}

export class InTerminal implements ScenarioUser {
  readonly #stage: Stage;
  #terminal!: Terminal;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  get screen(): string {
    return this.#terminal.screen;
  }

  /**
   * Starts Claude Code, and waits until its list of MCP servers shows the tools. Without waiting, Claude Code would
   * begin without the tools, and report that to the model.
   */
  async #begin(...args: string[]): Promise<void> {
    const { workspace, env } = this.#stage;
    const program = installedClaude()?.path ?? 'claude';
    this.#terminal = new Terminal([program, ...args], { cwd: workspace.projectDir, env });
    await this.#type('/mcp');
    await this.#terminal.shows(/✔ door +5 tools/);
    this.#terminal.press('\u001b');
    await this.#terminal.shows((screen) => !/MCP servers/.test(screen));
  }

  begin(): Promise<void> {
    return this.#begin('--session-id', this.#stage.sessionId);
  }

  /** The terminal's help screen with its keys. */
  async help(): Promise<string> {
    await this.#terminal.shows(isIdle);
    this.#terminal.press('?');
    await this.#terminal.shows(/to customize/);
    return this.screen;
  }

  async send(text: string, answer: string): Promise<void> {
    await this.#type(text);
    await this.#answered(answer);
  }

  async #type(text: string): Promise<void> {
    await this.#terminal.shows(isIdle);
    this.#terminal.press(text);
    await this.#terminal.shows((screen) => lastLine(screen).includes(text));
    this.#terminal.press('\r');
  }

  #answered(answer: string): Promise<void> {
    return this.#terminal.shows((screen) => screen.includes(answer) && isIdle(screen));
  }

  async showImage(text: string, answer: string): Promise<void> {
    this.#terminal.paste(join(this.#stage.workspace.projectDir, 'pixel.png'));
    await this.#terminal.shows(/\[Image #1\]/);
    await this.send(` ${text}`, answer);
  }

  async background(text: string, answer: string, what: Release, then: string): Promise<void> {
    await this.send(text, answer);
    await this.#stage.release(what);
    await this.#answered(then);
  }

  async plan(text: string, answer: string): Promise<void> {
    while (modeOn(this.screen) !== 'plan mode') {
      const before = modeOn(this.screen);
      this.#terminal.press('\u001b[Z');
      await this.#terminal.shows((screen) => modeOn(screen) !== before);
    }
    await this.#type(text);
    const asks = (screen: string): boolean => /Would you like to proceed/.test(screen);
    await this.#terminal.shows(asks);
    // Claude Code ignores keys that are pressed too soon after a question has appeared.
    while (asks(this.screen)) {
      this.#terminal.press('\r');
      await Promise.race([this.#terminal.shows((screen) => !asks(screen)), delay(300)]);
    }
    await this.#answered(answer);
  }

  async compact(): Promise<void> {
    await this.#type('/compact');
    await this.#terminal.shows((screen) => /Compacted/.test(screen) && isIdle(screen));
  }

  async resume(): Promise<void> {
    await this.#leave();
    await this.#begin('--resume', this.#stage.sessionId);
  }

  async fork(): Promise<void> {
    await this.#leave();
    await this.#begin('--resume', this.#stage.sessionId, '--fork-session');
  }

  async #leave(): Promise<void> {
    await this.#terminal.shows(isIdle);
    this.#terminal.press('\u0003');
    await this.#terminal.shows(/again to exit/i);
    this.#terminal.press('\u0003');
    await this.#terminal.ended;
  }

  async close(): Promise<void> {
    await endTree({ child: this.#terminal.child });
    await this.#terminal.ended;
  }
}

const isIdle = (screen: string): boolean => /❯/.test(screen) && !/esc to interrupt/.test(screen);
const modeOn = (screen: string): string | undefined => /(?:⏵⏵|⏸) (.*?) on/.exec(screen)?.[1];
const lastLine = (screen: string): string =>
  screen.split('\n').findLast((row) => row.startsWith('❯')) ?? '';

export class InLiminal implements ScenarioUser {
  readonly #stage: Stage;
  readonly #provider: DriverProvider<ClaudeDriver>;
  #listener: ClaudeListener;

  constructor(stage: Stage) {
    this.#stage = stage;
    const program = installedClaude()?.path;
    this.#provider = new DriverProvider(new ClaudeDriver({ env: stage.env, program }));
    this.#listener = new ClaudeListener(this.#provider, stage.sessionId);
  }

  async begin(): Promise<void> {
    vi.stubEnv('CLAUDE_CONFIG_DIR', this.#stage.env['CLAUDE_CONFIG_DIR']);
    const { projectDir } = this.#stage.workspace;
    const { sessionId } = this.#stage;
    await this.#provider.createSession({ projectDir, sessionId, projectTrust });
  }

  async send(text: string, answer: string): Promise<void> {
    await this.#listener.send(text);
    await this.#answered(answer);
  }

  async showImage(text: string, answer: string): Promise<void> {
    await this.#listener.send(text, [{ type: 'image', mimeType: 'image/png', data: pixel }]);
    await this.#answered(answer);
  }

  /** Waits until a turn that contains this answer has ended. */
  async #answered(answer: string): Promise<void> {
    const listener = this.#listener;
    await listener.until(() =>
      listener.events.find(
        ({ turnId, payload }) =>
          isTerminal(payload) &&
          messagesOf(listener.response(turnId)).some((one) => one.includes(answer)),
      ),
    );
  }

  async background(text: string, answer: string, what: Release, then: string): Promise<void> {
    await this.send(text, answer);
    await this.#stage.release(what);
    await this.#answered(then);
  }

  async plan(text: string, answer: string): Promise<void> {
    await this.#provider.setConfigOption(this.#listener.sessionId, 'mode', 'plan');
    await this.#listener.send(text);
    const asked = await this.#listener.until(() => {
      const found = this.#listener.events.find(
        ({ payload }) => payload.type === 'item_start' && payload.itemType === 'approval',
      );
      return found?.payload.type === 'item_start' ? found.payload : undefined;
    });
    const { approvalId = '', options = [] } = asked;
    const manual = options.find(({ name }) => /edits/i.test(name)) ?? options[0];
    await this.#provider.answerApproval(this.#listener.sessionId, approvalId, {
      optionId: manual?.optionId ?? '',
    });
    await this.#answered(answer);
  }

  async compact(): Promise<void> {
    await this.#listener.ask('/compact');
  }

  async resume(): Promise<void> {
    const { sessionId } = this.#stage;
    await this.#provider.killSession(sessionId);
    await this.#provider.loadSession(sessionId, { projectTrust });
  }

  async fork(): Promise<void> {
    const { projectDir } = this.#stage.workspace;
    const { sessionId } = this.#stage;
    await this.#provider.killSession(sessionId);
    const turns = await this.#provider.readStoredHistory(sessionId, projectDir);
    const { agentSessionId = '' } = await this.#provider.fork!(
      sessionId,
      projectDir,
      turns.at(-1)!.turnId,
    );
    this.#listener = new ClaudeListener(this.#provider, randomUUID());
    await this.#provider.loadSession(this.#listener.sessionId, {
      projectDir,
      agentSessionId,
      projectTrust,
    });
  }

  async close(): Promise<void> {
    await this.#provider.close();
    vi.unstubAllEnvs();
  }
}

const projectTrust = {
  uses: async () => true,
  started: () => undefined,
  changed: async () => undefined,
};
