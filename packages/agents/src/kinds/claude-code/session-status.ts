/** A Claude Code session's state besides its turns: settings, commands, notices, activity. */
import type { Query, SDKControlInitializeResponse } from '@anthropic-ai/claude-agent-sdk';
import { NoticeBoard } from '../../base/notice-board.ts';
import { UsageLimits } from '../../base/usage-limits.ts';
import type { SessionUpdate } from '../../contract/provider.ts';
import { offeredCommands } from './commands.ts';
import {
  applyOption,
  configOptions,
  effortChoice,
  modelOf,
  modeNotice,
  nothingOffered,
  offerOf,
  speedOf,
  type Config,
  type Offer,
} from './config-options.ts';
import type { SettingsInForce } from './settings-in-force.ts';
import { readStartMode, type SessionFacts } from './session-facts.ts';
import { readActivity } from './translate/activity.ts';
import { readGoal } from './translate/goal.ts';
import {
  readErrorOutput,
  readLimit,
  readNotices,
  serverNotices,
  type McpServerState,
} from './translate/session-notices.ts';

interface SessionStatusOptions {
  /** Claude Code's own id for the session. */
  agentSessionId: string;
  config: Config;
  /** Whether the mode that allows everything may be offered. */
  mayBypass: boolean;
  update: (update: SessionUpdate) => void;
}

type ListedCommands = Parameters<typeof offeredCommands>[0];

/** The session's state: values that Claude Code reports, and values that people have chosen. Sends each change once. */
export class SessionStatus {
  readonly #options: SessionStatusOptions;
  readonly #notices: NoticeBoard;
  readonly #limits = new UsageLimits();
  #agentSessionId: string;
  /** The start options for the next process. */
  #config: Config;
  /** The settings in force, including settings that nobody has chosen in Liminal. */
  #inForce: Config;
  #offer: Offer = nothingOffered;
  #activity = '';
  #commands: ListedCommands = [];
  #plugins: NonNullable<SessionFacts['plugins']> = [];
  /** The effort as last reported, its model, and the model's preferred effort if known. */
  #effort: { model: string; now?: string | undefined; preferred?: string | undefined } | undefined;

  constructor(options: SessionStatusOptions) {
    const { agentSessionId, config, update } = options;
    this.#options = options;
    this.#agentSessionId = agentSessionId;
    this.#config = config;
    this.#inForce = config;
    this.#notices = new NoticeBoard((notices) => update({ notices }));
  }

  get agentSessionId(): string {
    return this.#agentSessionId;
  }

  get config(): Config {
    return this.#config;
  }

  offersMode(mode: string): boolean {
    return this.#offer.modes.some(({ value }) => value === mode);
  }

  /** All commands that the program has listed, offered or not. */
  get commands(): ListedCommands {
    return this.#commands;
  }

  /** Reports the initial state when the process is ready. */
  begin(started: SDKControlInitializeResponse, settings: SettingsInForce): void {
    const { mayBypass, update } = this.#options;
    this.#commands = started.commands;
    const { fast_mode_disabled_reason: problem, fast_mode_state: fast } = started;
    this.#offer = offerOf(started.models, settings, mayBypass, problem);
    const mode = readStartMode(started) ?? (this.#config.mode || 'default');
    const model = modelOf(settings.model, this.#config.model, started.models);
    const speed = this.#config.speed || speedOf(fast) || 'standard';
    this.#inForce = { ...this.#config, mode, model, speed };
    this.#updateEffort(settings.effort);
    this.#notices.put('mode', modeNotice(this.#config.mode, mode));
    update({
      agentSessionId: this.#agentSessionId,
      configOptions: configOptions(this.#inForce, this.#offer),
      commands: offeredCommands(started.commands),
      notices: this.#notices.all,
    });
  }

  /** @param facts - The result of `readFacts` for the message. */
  read(message: unknown, facts: SessionFacts | undefined, inTurn: boolean): void {
    if (facts !== undefined) this.#applyFacts(facts);
    this.#setActivity(readActivity(message) ?? this.#activity);
    const limits = this.#limits.applyUpdate(readLimit(message));
    if (limits !== undefined) this.#options.update({ limits });
    for (const { topic, notices } of readNotices(message, inTurn)) {
      this.#notices.put(topic, notices);
    }
    const goal = readGoal(message);
    if (goal !== undefined) this.#notices.put('goal', goal);
  }

  /** Updates the notices about MCP servers. */
  updateServers(servers: readonly McpServerState[]): void {
    this.#notices.put('mcp', serverNotices(servers));
  }

  /** Records that the turn has made progress, and so no longer waits. */
  noteDelta(): void {
    if (this.#activity !== '') this.#setActivity('');
  }

  readErrorOutput(output: string): void {
    this.#notices.put('output', readErrorOutput(output));
  }

  /** Clears the activity. Sends no update: the turn's end already clears the activity for subscribers. */
  turnEnded(): void {
    this.#activity = '';
  }

  #setActivity(activity: string): void {
    if (activity !== this.#activity) this.#options.update({ activity });
    this.#activity = activity;
  }

  /** Throws ProviderError `INVALID_OPTION`. */
  async choose(query: Query, id: string, value: string): Promise<void> {
    const inForce = await applyOption(query, this.#inForce, this.#offer, id, value);
    if (inForce.mode !== undefined) this.#notices.put('mode', modeNotice(value, inForce.mode));
    this.#set(inForce);
  }

  /**
   * Updates the settings to the settings that Claude Code reports; a command such as `/effort` may have changed them.
   */
  updateSettings({ model, effort }: SettingsInForce): void {
    this.updateModel(model);
    const thinking = this.#updateEffort(effort);
    if (thinking !== undefined && thinking !== this.#inForce.thinking) this.#set({ thinking });
  }

  /**
   * Records the effort that Claude Code reports. If the effort has changed, returns the new value of the setting
   * `thinking`, otherwise undefined.
   */
  #updateEffort(now: string | undefined): string | undefined {
    const { model, thinking } = this.#inForce;
    const before = this.#effort?.model === model ? this.#effort : undefined;
    const preferred = before?.preferred ?? (thinking === 'default' ? now : undefined);
    this.#effort = { model, now, preferred };
    if (before === undefined || now === undefined || now === before.now) return undefined;
    return now === preferred ? 'default' : effortChoice(now);
  }

  /** Updates the setting `model`. Claude Code reports the full name of the model that it uses. */
  updateModel(fullName: string | undefined): void {
    const model = modelOf(fullName, this.#inForce.model, this.#offer.models);
    if (model !== this.#inForce.model) this.#set({ model });
  }

  /** The plugins that the program reported with its newest turn. */
  get plugins(): NonNullable<SessionFacts['plugins']> {
    return this.#plugins;
  }

  #applyFacts({ subtype, title, plugins = this.#plugins, ...facts }: SessionFacts): void {
    this.#plugins = plugins;
    const { session_id: id, permissionMode: mode, model, commands } = facts;
    const speed = speedOf(facts.fast_mode_state);
    if (subtype === 'session_title_changed' && title !== undefined && title !== '') {
      this.#options.update({ title });
    }
    if (subtype === 'init' && id !== undefined && id !== this.#agentSessionId) {
      this.#agentSessionId = id;
      this.#options.update({ agentSessionId: id });
    }
    if (subtype === 'init') this.updateModel(model);
    if (mode !== undefined && mode !== this.#inForce.mode) this.#set({ mode });
    if (speed !== undefined && speed !== this.#inForce.speed) this.#set({ speed });
    if (commands === undefined) return;
    this.#commands = commands;
    this.#options.update({ commands: offeredCommands(commands) });
  }

  #set(change: Partial<Config>): void {
    this.#config = { ...this.#config, ...change };
    this.#inForce = { ...this.#inForce, ...change };
    this.#options.update({ configOptions: configOptions(this.#inForce, this.#offer) });
  }
}
