import type { SessionNotice } from '@liminal/protocol';
import { headOf, thrownMessage } from '@liminal/protocol';
import { z } from 'zod';
import { NoticeBoard, serverStarting } from '../../base/notice-board.ts';
import { isRecord } from '../../base/parse-line.ts';
import { UsageLimits } from '../../base/usage-limits.ts';
import type { SessionOutput } from '../../contract/driver.ts';
import type { AppServer } from './app-server.ts';
import { commandsWith, readSkills, type Skill } from './commands.ts';
import type { CodexSettings, Offer, Opened } from './settings.ts';
import { readLimits } from './translate/limits.ts';

type Params = Record<string, unknown>;

/**
 * Initial settings. If `isLenient`, an invalid setting is left out, and a notice reports the setting; otherwise the
 * session does not open.
 */
export interface InitialSettings {
  config: Record<string, string>;
  isLenient: boolean;
}

export interface SessionStateOptions {
  server: AppServer;
  threadId: string;
  projectDir: string;
  output: SessionOutput;
  settings: CodexSettings;
}

/**
 * The delay before a new session reads its skills, limits, hooks and goal, ms. If a turn is running, the skills are
 * read when the turn has ended.
 */
const skillsDelayMs = 50;

/** A session's settings, commands, limits, notices and title. */
export class SessionState {
  readonly #options: SessionStateOptions;
  readonly #notices: NoticeBoard;
  readonly #limits = new UsageLimits();
  #skills: Skill[] = [];
  #areSkillsOld = false;
  #isInTurn = false;
  #isClosed = false;
  #threadId: string;

  constructor(options: SessionStateOptions) {
    this.#options = options;
    this.#threadId = options.threadId;
    this.#notices = new NoticeBoard((notices) => options.output.update({ notices }));
  }

  get skills(): readonly Skill[] {
    return this.#skills;
  }

  /** Applies the initial settings. `INVALID_OPTION`. */
  async begin(
    offer: Offer,
    wanted: readonly InitialSettings[],
    notices: readonly string[],
  ): Promise<void> {
    const { server, settings, output } = this.#options;
    settings.offer(offer);
    const problems = wanted.flatMap((one) => this.#choose(one));
    this.#notices.put('opening', [...notices, ...problems].map(warning));
    const commands = commandsWith([]);
    output.update({ agentSessionId: this.#threadId, configOptions: settings.options, commands });
    await this.#sendSettings();
    // Wait a moment, so that a message that a person sends at once reaches Codex before these requests.
    setTimeout(() => {
      this.#refreshSkills();
      void server
        .tryRequest('account/rateLimits/read', {})
        .then((answer) => this.#readLimits(answer));
      void this.#readHooks();
      void this.#readGoal();
    }, skillsDelayMs).unref();
  }

  /**
   * Switches the session to another thread. The session's settings are sent to the new thread with the next change of a
   * setting.
   */
  replaceThread(opened: Opened): void {
    const { settings, output } = this.#options;
    this.#threadId = opened.thread.id;
    settings.replaceThread(opened);
    // Remove the notice about the goal: a goal belongs to one thread.
    this.#notices.put('goal', []);
    output.update({ agentSessionId: this.#threadId });
  }

  /** `INVALID_OPTION`. */
  async change(id: string, value: string): Promise<void> {
    const { settings, output } = this.#options;
    settings.change(id, value);
    output.update({ configOptions: settings.options });
    await this.#sendSettings();
  }

  read(method: string, params: Params): void {
    const { settings, output } = this.#options;
    switch (method) {
      case 'account/rateLimits/updated':
        return this.#readLimits(params);
      case 'thread/name/updated':
        return this.#rename(params['threadName']);
      case 'thread/settings/updated':
        if (!settings.read(params['threadSettings'])) return;
        return output.update({ configOptions: settings.options });
      case 'thread/goal/updated':
        return this.#notices.put('goal', goalNotices(params));
      case 'thread/goal/cleared':
        return this.#notices.put('goal', []);
      case 'skills/changed':
        return this.#refreshSkills();
      case 'mcpServer/startupStatus/updated':
        return this.#notices.put(`mcp ${String(params['name'])}`, mcpNotices(params));
      case 'warning':
      case 'guardianWarning':
      case 'configWarning':
      case 'deprecationNotice': {
        const text = [params['message'] ?? params['summary'], params['details']];
        const message = text.filter((part) => typeof part === 'string' && part !== '').join(' ');
        const notice: SessionNotice = { level: 'warning', text: message, about: 'agent' };
        return this.#notices.put(message, message === '' ? [] : [notice]);
      }
    }
  }

  turnBegins(): void {
    this.#isInTurn = true;
  }

  turnEnds(): void {
    this.#isInTurn = false;
    if (this.#areSkillsOld) this.#refreshSkills();
  }

  /** Stops sending updates, including updates from requests that Codex has not answered yet. */
  close(): void {
    this.#isClosed = true;
  }

  /**
   * Changes settings. If `isLenient`, returns a sentence for each invalid setting; otherwise throws ProviderError
   * `INVALID_OPTION` for an invalid setting.
   */
  #choose({ config, isLenient }: InitialSettings): string[] {
    return Object.entries(config).flatMap(([id, value]) => {
      try {
        this.#options.settings.change(id, value);
        return [];
      } catch (error) {
        if (!isLenient) throw error;
        return [`A setting was left out. ${thrownMessage(error)}`];
      }
    });
  }

  async #sendSettings(): Promise<void> {
    const { server, settings } = this.#options;
    const { overrides } = settings;
    if (Object.keys(overrides).length === 0) return;
    const own = { threadId: this.#threadId };
    await server.request('thread/settings/update', { ...own, ...overrides });
  }

  /** Reports usage limits. Only an account with a subscription has limits. */
  #readLimits(answer: unknown): void {
    const limits = this.#limits.applyUpdate(readLimits(answer));
    if (limits !== undefined && !this.#isClosed) this.#options.output.update({ limits });
  }

  #refreshSkills(): void {
    this.#areSkillsOld = this.#isInTurn;
    if (!this.#isClosed && !this.#isInTurn) void this.#readSkills();
  }

  async #readSkills(): Promise<void> {
    const { server, projectDir, output } = this.#options;
    const answer = await server.tryRequest('skills/list', { cwds: [projectDir] });
    if (this.#isClosed) return;
    this.#skills = readSkills(answer);
    output.update({ commands: commandsWith(this.#skills) });
  }

  /** Shows a notice about hooks that Codex does not run because no person has reviewed them. */
  async #readHooks(): Promise<void> {
    const { server, projectDir } = this.#options;
    const answer = await server.tryRequest('hooks/list', { cwds: [projectDir] });
    if (!this.#isClosed) this.#notices.put('hooks', hookProblems(answer));
  }

  /** Shows the goal if the thread had one before this server opened the thread. */
  async #readGoal(): Promise<void> {
    const { server } = this.#options;
    const answer = await server.tryRequest('thread/goal/get', { threadId: this.#threadId });
    if (!this.#isClosed && isRecord(answer)) this.#notices.put('goal', goalNotices(answer));
  }

  #rename(title: unknown): void {
    if (typeof title === 'string' && title !== '') this.#options.output.update({ title });
  }
}

const Goal = z.looseObject({
  goal: z.looseObject({ objective: z.string(), status: z.string() }).nullish(),
});

/**
 * The text that is shown after a goal, by the goal's state. A state that is not listed is not shown, for example a
 * completed goal.
 */
const goalStates: Readonly<Record<string, string>> = {
  active: '',
  paused: ' (paused)',
  blocked: ' (blocked)',
  usageLimited: ' (waits for the account’s usage limit)',
  budgetLimited: ' (its tokens are used up)',
};

/** The most characters that are shown of a goal. */
const maxGoal = 300;

function goalNotices(params: Params): SessionNotice[] {
  const { objective, status } = Goal.safeParse(params).data?.goal ?? { objective: '', status: '' };
  const state = Object.hasOwn(goalStates, status) ? goalStates[status] : undefined;
  if (state === undefined) return [];
  return [{ level: 'info', text: `Goal${state}: ${headOf(objective, maxGoal)}` }];
}

const warning = (text: string): SessionNotice => ({ level: 'warning', text });

const Hooks = z.looseObject({
  data: z.array(
    z.looseObject({
      hooks: z.array(z.looseObject({ enabled: z.boolean(), trustStatus: z.string() })).catch([]),
      warnings: z.array(z.string()).catch([]),
      errors: z.array(z.looseObject({ message: z.string() })).catch([]),
    }),
  ),
});

function hookProblems(answer: unknown): SessionNotice[] {
  const entries = Hooks.safeParse(answer).data?.data ?? [];
  const isLeftOut = (trust: string): boolean => trust === 'untrusted' || trust === 'modified';
  const hooks = entries.flatMap((entry) => entry.hooks);
  const count = hooks.filter((hook) => hook.enabled && isLeftOut(hook.trustStatus)).length;
  const review = `Codex does not run ${count === 1 ? 'a hook' : `${count} hooks`} that ${count === 1 ? 'has' : 'have'} not been reviewed. To review, run codex in a terminal and enter /hooks.`;
  const problems = entries.flatMap((entry) => [
    ...entry.warnings,
    ...entry.errors.map(({ message }) => message),
  ]);
  return [...(count === 0 ? [] : [review]), ...problems].map(warning);
}

function mcpNotices({ name, status, error }: Params): SessionNotice[] {
  if (status === 'starting') return [{ level: 'info', text: serverStarting(String(name)) }];
  if (status !== 'failed') return [];
  const why = typeof error === 'string' ? ` ${error}` : '';
  return [warning(`The MCP server “${String(name)}” did not start.${why}`)];
}
