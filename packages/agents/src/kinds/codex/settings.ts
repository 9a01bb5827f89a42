/** The settings of a session: approval preset, model, reasoning effort, mode and speed. */
import type { ConfigOption } from '@liminal/protocol';
import { z } from 'zod';
import { errors } from '../../contract/errors.ts';

const Models = z.looseObject({
  data: z
    .array(
      z.looseObject({
        model: z.string(),
        displayName: z.string().catch(''),
        description: z.string().catch(''),
        supportedReasoningEfforts: z
          .array(z.looseObject({ reasoningEffort: z.string(), description: z.string().catch('') }))
          .catch([]),
        defaultReasoningEffort: z.string().nullish().catch(undefined),
        serviceTiers: z
          .array(
            z.looseObject({ id: z.string(), name: z.string(), description: z.string().catch('') }),
          )
          .catch([]),
      }),
    )
    .catch([]),
});
export type Model = z.infer<typeof Models>['data'][number];

/** Returns the models in an answer to `model/list`. */
export const readModels = (answer: unknown): Model[] => Models.safeParse(answer).data?.data ?? [];

const Modes = z.looseObject({
  data: z.array(z.looseObject({ name: z.string(), mode: z.string() })).catch([]),
});
export type WorkMode = z.infer<typeof Modes>['data'][number];

/** Returns the modes in an answer to `collaborationMode/list`. */
export const readModes = (answer: unknown): WorkMode[] => Modes.safeParse(answer).data?.data ?? [];

/** Codex' answer when it opens a thread. */
const Opened = z.looseObject({
  thread: z.looseObject({ id: z.string().min(1) }),
  model: z.string().catch(''),
  reasoningEffort: z.string().nullish().catch(undefined),
  serviceTier: z.string().nullish().catch(undefined),
  approvalPolicy: z.unknown().optional(),
  sandbox: z.looseObject({ type: z.string().catch('') }).catch({ type: '' }),
  /** The paths of the thread's instruction files. */
  instructionSources: z.array(z.string()).catch([]),
  /** The mode of a stored thread, if Codex' terminal or Liminal has set a mode. */
  collaborationMode: z.looseObject({ mode: z.string() }).nullish().catch(undefined),
});
export type Opened = z.infer<typeof Opened>;

/** Returns undefined if the answer does not open a thread. */
export const readOpened = (answer: unknown): Opened | undefined => Opened.safeParse(answer).data;

const ThreadSettings = z.looseObject({
  model: z.string(),
  effort: z.string().nullish().catch(undefined),
  serviceTier: z.string().nullish().catch(undefined),
  approvalPolicy: z.unknown().optional(),
  sandboxPolicy: z.looseObject({ type: z.string() }),
  collaborationMode: z.looseObject({ mode: z.string() }).nullish().catch(undefined),
});

interface Preset {
  value: string;
  name: string;
  description: string;
  approvalPolicy: string;
  sandboxPolicy: { type: string; [option: string]: unknown };
}

/** The presets of Codex' own menus. */
const presets: Preset[] = [
  {
    value: 'read-only',
    name: 'Read Only',
    description: 'Codex reads files here. It asks before it changes files or uses the internet.',
    approvalPolicy: 'on-request',
    sandboxPolicy: { type: 'readOnly', networkAccess: false },
  },
  {
    value: 'auto',
    name: 'Default',
    description:
      'Codex reads and changes files here, and runs commands. It asks before it uses the internet or changes other files.',
    approvalPolicy: 'on-request',
    sandboxPolicy: {
      type: 'workspaceWrite',
      writableRoots: [],
      networkAccess: false,
      excludeTmpdirEnvVar: false,
      excludeSlashTmp: false,
    },
  },
  {
    value: 'full-access',
    name: 'Full Access',
    description: 'Codex changes files anywhere and uses the internet without asking. Take care.',
    approvalPolicy: 'never',
    sandboxPolicy: { type: 'dangerFullAccess' },
  },
];

/** A thread's permissions, as Codex reports them. */
type Rights = Record<'approvalPolicy' | 'sandboxPolicy', unknown>;

/** The speed of a thread without a service tier. */
const standardTier = 'standard';

/** The mode's value if the permissions in the user's configuration match no preset. */
const custom = 'custom';

export interface Offer {
  models: readonly Model[];
  modes: readonly WorkMode[];
}

export class CodexSettings {
  #models: readonly Model[] = [];
  #modes: readonly WorkMode[] = [];
  /**
   * The mode that was set since the thread was opened. The mode that a thread reports when it is opened does not count,
   * because a forked thread reports the mode that its original had at the fork: if the mode were not set again, the
   * model would lose the mode's instructions.
   */
  #workOfThread: string | undefined;
  /** The values that people have chosen in Liminal, by option. */
  readonly #chosen: Record<string, string> = {};
  readonly #current: Record<string, string>;
  #rights: Rights;
  /** Whether the session's new thread was opened with rights that differ from the session's earlier rights. */
  #hasOtherRights = false;

  constructor({ model, reasoningEffort, collaborationMode, ...opened }: Opened) {
    this.#rights = { approvalPolicy: opened.approvalPolicy, sandboxPolicy: opened.sandbox };
    const effort = reasoningEffort ?? '';
    const [mode, work] = [presetOf(opened), collaborationMode?.mode ?? 'default'];
    const tier = opened.serviceTier ?? standardTier;
    this.#current = {
      mode,
      model,
      reasoning_effort: effort,
      collaboration_mode: work,
      service_tier: tier,
    };
  }

  /** Switches to another thread. Settings that differ in the new thread are then part of `overrides`. */
  replaceThread(opened: Opened): void {
    const fresh = new CodexSettings(opened);
    fresh.offer({ models: this.#models, modes: this.#modes });
    for (const id of ['mode', 'model', 'reasoning_effort', 'service_tier']) {
      const value = this.#current[id] ?? '';
      const isOffered = value !== '' && value !== custom;
      if (isOffered && value !== fresh.#current[id]) this.#chosen[id] = value;
    }
    this.#workOfThread = undefined;
    this.#hasOtherRights = JSON.stringify(fresh.#rights) !== JSON.stringify(this.#rights);
  }

  /** Sets the models and modes to choose from. */
  offer({ models, modes }: Offer): void {
    this.#models = models;
    this.#modes = modes;
    this.#current['reasoning_effort'] ||= this.#modelOf(this.model)?.defaultReasoningEffort ?? '';
  }

  /**
   * Reads the settings that Codex reports, because another client may have changed them. Returns whether any setting
   * has changed.
   */
  read(settings: unknown): boolean {
    const now = ThreadSettings.safeParse(settings).data;
    if (now === undefined) return false;
    const { model, effort, approvalPolicy, sandboxPolicy, collaborationMode, serviceTier } = now;
    const before = JSON.stringify(this.#current);
    this.#rights = { approvalPolicy, sandboxPolicy };
    this.#current['mode'] = presetOf({ approvalPolicy, sandbox: sandboxPolicy });
    this.#current['model'] = model;
    this.#current['service_tier'] = serviceTier ?? standardTier;
    if (collaborationMode != null) {
      this.#workOfThread = collaborationMode.mode;
      this.#current['collaboration_mode'] = collaborationMode.mode;
    }
    if (effort != null) this.#current['reasoning_effort'] = effort;
    return JSON.stringify(this.#current) !== before;
  }

  get model(): string {
    return this.#current['model'] ?? '';
  }

  /** The settings that people have chosen in place of the user's configuration, by option. */
  get chosen(): Record<string, string> {
    return { ...this.#chosen };
  }

  /** Whether Codex is in Plan mode, in which Codex does not change files. */
  get isPlanning(): boolean {
    return this.#current['collaboration_mode'] === 'plan';
  }

  get options(): ConfigOption[] {
    const { mode = '', model = '', reasoning_effort: effort = '' } = this.#current;
    const { collaboration_mode: work = '', service_tier: tier = standardTier } = this.#current;
    const own = { value: custom, name: 'From config.toml' };
    const modes = presets.map(({ value, name, description }) => ({ value, name, description }));
    const models = this.#models.map((one) => ({
      value: one.model,
      name: one.displayName || one.model,
      description: one.description,
    }));
    const efforts = this.#effortsOf(model).map(({ reasoningEffort: value, description }) => ({
      value,
      name: value.charAt(0).toUpperCase() + value.slice(1),
      description,
    }));
    const all: ConfigOption[] = [
      {
        id: 'mode',
        name: 'Approvals',
        category: 'mode',
        currentValue: mode,
        options: mode === custom ? [own, ...modes] : modes,
      },
      { id: 'model', name: 'Model', category: 'model', currentValue: model, options: models },
      {
        id: 'reasoning_effort',
        name: 'Reasoning effort',
        category: 'thought_level',
        currentValue: effort,
        options: efforts,
      },
      {
        id: 'collaboration_mode',
        name: 'Mode',
        currentValue: work,
        options: this.#modes.map(({ mode: value, name }) => ({ value, name })),
      },
      {
        id: 'service_tier',
        name: 'Speed',
        category: 'speed',
        currentValue: tier,
        options: this.#tiersOf(model),
      },
    ];
    return all.filter(({ options }) => options.length > 0);
  }

  /** Throws ProviderError `INVALID_OPTION`. */
  change(id: string, value: string): void {
    const { options } = this;
    const option = options.find((one) => one.id === id);
    if (option === undefined) {
      const ids = options.map((one) => one.id).join(', ');
      throw errors.INVALID_OPTION.option('Codex', id, ids);
    }
    if (!option.options.some((one) => one.value === value)) {
      const offered = option.options.map((one) => one.value).join(', ');
      throw errors.INVALID_OPTION.value(id, value, offered);
    }
    this.#chosen[id] = value;
    this.#current[id] = value;
    if (id === 'model' && this.#tiersOf(value).length === 0 && this.#chosen['service_tier']) {
      this.#chosen['service_tier'] = standardTier;
      this.#current['service_tier'] = standardTier;
    }
    const efforts = this.#effortsOf(this.model).map((one) => one.reasoningEffort);
    const { reasoning_effort: effort = '' } = this.#current;
    if (id !== 'model' || efforts.includes(effort)) return;
    // The new model does not have the chosen effort, so use the model's default.
    delete this.#chosen['reasoning_effort'];
    this.#current['reasoning_effort'] = this.#modelOf(value)?.defaultReasoningEffort ?? '';
  }

  /**
   * The fields of `thread/settings/update` for the chosen settings. A thread always gets the mode that people see, even
   * if nobody has chosen the mode, so that the model has the mode's instructions from the first turn on, as with Codex'
   * own terminal.
   */
  get overrides(): Record<string, unknown> {
    const { mode, model, reasoning_effort: effort, service_tier: tier } = this.#chosen;
    const shown = this.#current['collaboration_mode'];
    const isKnown = this.#modes.some((one) => one.mode === shown);
    const work = isKnown && shown !== this.#workOfThread ? shown : undefined;
    const preset = presets.find(({ value }) => value === mode);
    const rights = preset ?? (this.#hasOtherRights ? this.#rights : undefined);
    // If a model is chosen, also send the effort: the model may not have the previous model's effort.
    const isModelChosen = model !== undefined || effort !== undefined;
    const chosenEffort = this.#current['reasoning_effort'] || null;
    // Codex requires the model inside the mode as well.
    const settings = {
      model: this.model,
      reasoning_effort: chosenEffort,
      developer_instructions: null,
    };
    return {
      ...(rights && {
        approvalPolicy: rights.approvalPolicy,
        sandboxPolicy: rights.sandboxPolicy,
      }),
      ...(isModelChosen && { model: this.model, effort: chosenEffort }),
      ...(tier !== undefined && { serviceTier: tier === standardTier ? null : tier }),
      ...(work !== undefined && { collaborationMode: { mode: work, settings } }),
    };
  }

  #modelOf(name: string): Model | undefined {
    return this.#models.find(({ model }) => model === name);
  }

  /** Returns the service tiers of a model; empty if the model has only one tier. */
  #tiersOf(model: string): ConfigOption['options'] {
    const tiers = this.#modelOf(model)?.serviceTiers ?? [];
    const others = tiers.map(({ id: value, name, description }) => ({ value, name, description }));
    return others.length === 0 ? [] : [{ value: standardTier, name: 'Standard' }, ...others];
  }

  #effortsOf(model: string): Model['supportedReasoningEfforts'] {
    return this.#modelOf(model)?.supportedReasoningEfforts ?? [];
  }
}

function presetOf({ approvalPolicy, sandbox }: Pick<Opened, 'approvalPolicy' | 'sandbox'>): string {
  const isIt = (one: Preset): boolean =>
    one.approvalPolicy === approvalPolicy && one.sandboxPolicy.type === sandbox.type;
  return presets.find(isIt)?.value ?? custom;
}
