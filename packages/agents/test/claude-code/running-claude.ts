import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  claudeEnvironment,
  makeWorkspace,
  startMessagesApi,
  type MessagesApi,
  type Script,
  type Workspace,
} from '@liminal/testkit';
import {
  emptyResponse,
  foldResponse,
  isTerminal,
  stampEvent,
  toResponse,
  type ContentBlock,
  type EventDraft,
  type EventPayload,
  type Response,
} from '@liminal/protocol';
import { afterAll, beforeAll, onTestFinished, vi } from 'vitest';
import { DriverProvider } from '../../src/base/driver-provider.ts';
import { ClaudeDriver, type ClaudeCodeOptions } from '../../src/kinds/claude-code/index.ts';
import { installedClaude } from '../../src/kinds/claude-code/program.ts';
import type { ProjectTrust } from '../../src/contract/project-settings.ts';
import type {
  CreateSessionOptions,
  LoadSessionOptions,
  ProviderSession,
  SessionExit,
  SessionUpdate,
} from '../../src/contract/provider.ts';

/** The real Claude Code behind its provider, with a scripted model and its own home. */
export interface RunningClaude {
  api: MessagesApi;
  workspace: Workspace;
  provider: DriverProvider<ClaudeDriver>;
  /** Creates a session with a listener that gets all events from the start. */
  create(config?: Record<string, string>): Promise<ClaudeListener>;
  /** Listens to an existing session. */
  listen(sessionId: string): ClaudeListener;
}

interface RunOptions {
  /** Decides about the settings of the project folder. Default: they are used. */
  projectTrust?: ProjectTrust;
  /** Files in the project folder. */
  files?: Record<string, string>;
  /** Files in the folder of Claude Code's own configuration. */
  config?: Record<string, string>;
  env?: Record<string, string>;
  provider?: Omit<ClaudeCodeOptions, 'env'>;
}

/** Starts everything, and closes it after the test. */
export async function runClaude(
  makeScript: (workspace: Workspace) => Script,
  options: RunOptions = {},
): Promise<RunningClaude> {
  const { close, ...claude } = await startClaude(options);
  onTestFinished(close);
  claude.api.play(makeScript(claude.workspace));
  return claude;
}

/**
 * Shares one session between all tests of a file, because starting Claude Code takes most of their time. The returned
 * function scripts the model for a test, and returns the session with a `listener` from now on; `first` listens from
 * the start.
 */
export function shareClaude(options: RunOptions & { session?: Record<string, string> } = {}) {
  let claude: RunningClaude & { close(): Promise<void> };
  let first: ClaudeListener;
  beforeAll(async () => {
    claude = await startClaude(options);
    first = await claude.create(options.session);
  });
  afterAll(() => claude.close());
  return (makeScript: (workspace: Workspace) => Script) => {
    const { close: _, ...rest } = claude;
    claude.api.play(makeScript(claude.workspace));
    // A test that started another Claude Code has unset the variable.
    vi.stubEnv('CLAUDE_CONFIG_DIR', join(claude.workspace.home, '.claude'));
    return { ...rest, first, listener: claude.listen(first.sessionId) };
  };
}

async function startClaude(options: RunOptions) {
  const workspace = await makeWorkspace(options.files);
  const api = await startMessagesApi({ script: [] });
  const env = { ...claudeEnvironment(workspace.home, api.url), ...options.env };
  await writeFiles(join(workspace.home, '.claude'), options.config);
  vi.stubEnv('CLAUDE_CONFIG_DIR', env['CLAUDE_CONFIG_DIR']);
  // Use the installed program rather than a developer's own program on the search path.
  const program = installedClaude()?.path;
  const provider = new TrustingProvider(new ClaudeDriver({ env, program, ...options.provider }));
  if (options.projectTrust) provider.projectTrust = options.projectTrust;
  const close = async () => {
    await provider.close();
    await api.close();
    vi.unstubAllEnvs();
    await workspace.remove();
  };
  const create = async (config?: Record<string, string>): Promise<ClaudeListener> => {
    const listener = new ClaudeListener(provider, randomUUID());
    const { projectDir } = workspace;
    await provider.createSession({
      projectDir,
      sessionId: listener.sessionId,
      ...(config && { config }),
    });
    return listener;
  };
  const listen = (sessionId: string): ClaudeListener => new ClaudeListener(provider, sessionId);
  return { api, workspace, provider, create, listen, close };
}

/** A provider that opens every session with the same decision about its project's settings. */
class TrustingProvider extends DriverProvider<ClaudeDriver> {
  projectTrust: ProjectTrust = {
    uses: async () => true,
    started: () => undefined,
    changed: async () => undefined,
  };

  override createSession(options: CreateSessionOptions): Promise<ProviderSession> {
    return super.createSession({ projectTrust: this.projectTrust, ...options });
  }

  override loadSession(sessionId: string, options?: LoadSessionOptions): Promise<ProviderSession> {
    return super.loadSession(sessionId, { projectTrust: this.projectTrust, ...options });
  }
}

async function writeFiles(folder: string, files: Record<string, string> = {}): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

/** All events of one session. */
export class ClaudeListener {
  readonly sessionId: string;
  readonly events: EventDraft[] = [];
  readonly updates: SessionUpdate[] = [];
  readonly exits: SessionExit[] = [];
  readonly #provider: DriverProvider<ClaudeDriver>;
  #wake = Promise.withResolvers<void>();

  constructor(provider: DriverProvider<ClaudeDriver>, sessionId: string) {
    this.sessionId = sessionId;
    this.#provider = provider;
    provider.onEvent(sessionId, (event) => this.#note(this.events, event));
    provider.onUpdate(sessionId, (update) => this.#note(this.updates, update));
    provider.onExit(sessionId, (exit) => this.#note(this.exits, exit));
  }

  send(message: string, blocks: readonly ContentBlock[] = []): Promise<{ turnId: string }> {
    return this.#provider.sendMessage(this.sessionId, message, { blocks });
  }

  /** Sends a message and waits for the end of its turn. */
  async ask(message: string, blocks: readonly ContentBlock[] = []): Promise<Response> {
    const { turnId } = await this.send(message, blocks);
    return this.ended(turnId);
  }

  async ended(turnId: string): Promise<Response> {
    await this.event((payload) => isTerminal(payload), turnId);
    return this.response(turnId);
  }

  /** The first past or future event that `matches`. */
  event(matches: (payload: EventPayload) => boolean, turnId?: string): Promise<EventDraft> {
    return this.until(() =>
      this.events.find(
        (draft) => (turnId ?? draft.turnId) === draft.turnId && matches(draft.payload),
      ),
    );
  }

  /** Waits until `find` returns a value. */
  async until<T>(find: () => T | undefined): Promise<T> {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      await this.#wake.promise;
    }
  }

  response(turnId: string): Response {
    const run = {
      sessionId: this.sessionId,
      runId: turnId,
      traceContext: { traceparent: `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01` },
    };
    const state = this.events
      .filter((draft) => draft.turnId === turnId)
      .reduce(
        (folded, draft, seq) => foldResponse(folded, stampEvent(draft, run, seq)),
        emptyResponse(),
      );
    return toResponse(state)!;
  }

  /** The current value of a config option. */
  option(id: string): string | undefined {
    const options = this.updates.findLast(
      (update) => update.configOptions !== undefined,
    )?.configOptions;
    return options?.find((option) => option.id === id)?.currentValue;
  }

  /** The names of a config option's offered values. */
  async offered(id: string): Promise<string[]> {
    const { configOptions } = await this.until(() => this.updates.find((one) => one.configOptions));
    const found = configOptions?.find((option) => option.id === id);
    return found?.options.map(({ name }) => name) ?? [];
  }

  #note<T>(list: T[], value: T): void {
    list.push(value);
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }
}

/** The messages of a turn with their authors. */
export const messagesOf = (response: Response): string[] =>
  response.outputItems.flatMap((item) =>
    item.type === 'message' ? [`${item.origin}: ${item.content}`] : [],
  );
