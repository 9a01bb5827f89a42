/**
 * Reads flags, variables and the configuration file; no other code reads these settings. Flags override variables, and
 * variables override the file.
 */
import type { McpServers } from '@liminal/protocol';
import { join, resolve } from 'node:path';
import type { RuntimeSettings } from '@liminal/runtime';
import type { AgentEntry, ClaudeEntry } from './agents.ts';
import { choose } from './choose.ts';
import { type ConfigFile, readConfigFile } from './file.ts';
import { keyVariables, type ModelConfig, modelConfigs, type ToolsEntry } from './models.ts';
import { sharedConfig, type SharedConfig } from './shared.ts';
import { telemetryConfig, telemetrySecrets, type TelemetryConfig } from './telemetry.ts';
import { Host, PortText, Token } from './values.ts';

/** The flags as commander returns them; all values are still text. */
export interface Flags {
  port?: string;
  host?: string;
  insecureHost?: boolean;
  data?: string;
  token?: string;
  open?: boolean;
  config?: string;
}

/** The sources of configuration. The sources are parameters, so that a test need not start a process. */
export interface ConfigSources {
  env: NodeJS.ProcessEnv;
  cwd: string;
  home: string;
}

export interface Config {
  dataDir: string;
  /** Absent if all data is in the data folder. */
  shared: SharedConfig | undefined;
  port: number;
  /** Whether the port was set explicitly. */
  portChosen: boolean;
  host: string;
  insecureHost: boolean;
  /** Absent if the token in the data folder is used. */
  token: string | undefined;
  open: boolean;
  roots: string[];
  allowedHosts: string[];
  allowedOrigins: string[];
  logLevel: string;
  /** How long turns may continue after the server was asked to stop, in ms. */
  endLimitMs: number;
  /** Absent if no spans are made. */
  telemetry: TelemetryConfig | undefined;
  settings: Partial<RuntimeSettings>;
  /** Configured ACP agents, by type. */
  agents: Record<string, AgentEntry>;
  claude: ClaudeEntry;
  /** Whether messages from people that begin with `!` run as commands. */
  userCommands: boolean;
  mcpServers: McpServers;
  /** Servers of bare models. OpenAI and Anthropic are the first two. */
  models: ModelConfig[];
  /** The tools of bare models. */
  tools: ToolsEntry;
  /** Variables that are removed from the environment of commands that bare models run. */
  hiddenVariables: string[];
}

const defaultPort = 4747;
/** Waiting for turns and the rest of the shutdown take less than the ten seconds that Docker gives a container. */
const defaultEndLimitMs = 5_000;

/** Throws `ConfigError`. */
export function loadConfig(flags: Flags, { env, cwd, home }: ConfigSources): Config {
  const variable = (name: string) => (env[name] === '' ? undefined : env[name]);
  const dataDir = resolve(
    cwd,
    flags.data ?? variable('LIMINAL_DATA_DIR') ?? join(home, '.liminal'),
  );
  const chosenFile = flags.config ?? variable('LIMINAL_CONFIG');
  const path = chosenFile === undefined ? join(dataDir, 'liminal.json') : resolve(cwd, chosenFile);
  const file = readConfigFile(path, { required: chosenFile !== undefined, home, env });

  const port =
    choose(PortText, ['--port', flags.port], ['LIMINAL_PORT', variable('LIMINAL_PORT')]) ??
    file.port;
  const host = choose(Host, ['--host', flags.host], ['LIMINAL_HOST', variable('LIMINAL_HOST')]);
  return {
    dataDir,
    shared: sharedConfig(file, variable),
    port: port ?? defaultPort,
    portChosen: port !== undefined,
    host: host ?? file.host ?? '127.0.0.1',
    insecureHost: flags.insecureHost ?? file.insecureHost ?? false,
    token: choose(Token, ['--token', flags.token], ['LIMINAL_TOKEN', variable('LIMINAL_TOKEN')]),
    // Commander's --no-open makes `open` true by default, so only false is meaningful.
    open: flags.open === false ? false : (file.open ?? true),
    roots: file.roots ?? [home, cwd],
    allowedHosts: file.allowedHosts ?? [],
    allowedOrigins: file.allowedOrigins ?? [],
    logLevel: file.logLevel ?? 'warn',
    endLimitMs: file.endLimitMs ?? defaultEndLimitMs,
    telemetry: telemetryConfig(file, variable),
    settings: runtimeSettings(file),
    agents: file.agents ?? {},
    claude: file.claude ?? {},
    userCommands: file.userCommands ?? true,
    mcpServers: file.mcpServers ?? {},
    models: modelConfigs(file.models ?? {}, variable),
    tools: file.tools ?? {},
    hiddenVariables: [...keyVariables(file.models ?? {}, env), ...telemetrySecrets],
  };
}

function runtimeSettings(file: ConfigFile): Partial<RuntimeSettings> {
  const { idleLimitMs, approvals, maxSessions, maxQueue, maxIdleProcesses } = file;
  const { leaseMs, projector, publishUpserts, upserts, cadenceMs, keepEvents } = file;
  return {
    ...(leaseMs !== undefined && { leaseMs }),
    ...(projector !== undefined && { projects: projector }),
    ...(publishUpserts !== undefined && { publishUpserts }),
    ...(upserts && { upserts }),
    ...(idleLimitMs !== undefined && { idleLimitMs }),
    ...(approvals && { approvals }),
    ...(maxSessions !== undefined && { maxSessions }),
    ...(maxQueue !== undefined && { maxQueue }),
    ...(maxIdleProcesses !== undefined && { maxIdleProcesses }),
    ...(cadenceMs !== undefined && { cadenceMs }),
    ...(keepEvents !== undefined && { keepEvents }),
  };
}
