/** Converts a session's settings and commands to ACP. */
import type * as Acp from '@agentclientprotocol/sdk/unstable';
import type { AgentCommand, ConfigOption } from '@liminal/protocol';

export interface AcpSessionSettings {
  configOptions: Acp.SessionConfigOption[];
  /** The option of the category `mode`, for clients that do not support config options. */
  modes?: Acp.SessionModeState;
}

export function settingsOf(options: readonly ConfigOption[]): AcpSessionSettings {
  const mode = modeOption(options);
  return {
    configOptions: options.map(optionOf),
    ...(mode && { modes: modesOf(mode) }),
  };
}

export function modeOption(options: readonly ConfigOption[]): ConfigOption | undefined {
  return (
    options.find(({ category }) => category === 'mode') ?? options.find(({ id }) => id === 'mode')
  );
}

export function commandsOf(commands: readonly AgentCommand[]): Acp.AvailableCommand[] {
  return commands.map(({ name, description, hint }) => ({
    name,
    description,
    ...(hint !== undefined && { input: { hint } }),
  }));
}

function optionOf(option: ConfigOption): Acp.SessionConfigOption {
  const { id, name, description, category, currentValue } = option;
  return {
    type: 'select',
    id,
    name,
    ...(description !== undefined && { description }),
    ...(category !== undefined && { category }),
    currentValue,
    options: choicesOf(option),
  };
}

/**
 * If one choice has a group, all choices are sent in groups. Choices without a group are put into a group without a
 * name.
 */
function choicesOf({ options }: ConfigOption): Acp.SessionConfigSelectOptions {
  const choices = options.map(({ value, name, description, group = '' }) => ({
    group,
    choice: { value, name, ...(description !== undefined && { description }) },
  }));
  if (choices.every(({ group }) => group === '')) return choices.map(({ choice }) => choice);
  const groups = Map.groupBy(choices, ({ group }) => group);
  return [...groups].map(([group, members]) => ({
    group,
    name: group,
    options: members.map(({ choice }) => choice),
  }));
}

function modesOf({ currentValue, options }: ConfigOption): Acp.SessionModeState {
  return {
    currentModeId: currentValue,
    availableModes: options.map(({ value, name, description }) => ({
      id: value,
      name,
      ...(description !== undefined && { description }),
    })),
  };
}
