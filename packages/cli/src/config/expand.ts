/** Placeholders in the texts of the configuration file: `~`, `${NAME}`, and `$$` for a plain `$`. */
import type { McpServer, McpServers } from '@liminal/protocol';
import { errors } from '../errors.ts';
import type { AgentEntry } from './agents.ts';

/** Replaces the placeholders in a text; errors refer to the text as `field`. */
export type Expand = (text: string, field: string) => string;

/**
 * Returns a function that replaces placeholders: a leading `~` is the home folder; `${NAME}` is a variable of the
 * environment in which Liminal was started. Throws `ConfigError` for an unset variable: otherwise an agent would fail
 * later without a clear reason.
 */
export function expander(path: string, env: NodeJS.ProcessEnv, home: string): Expand {
  return (text, field) => {
    return text.replaceAll(/^~(?=$|\/)|\$\$|\$\{[^}]*\}?/g, (found) => {
      if (found === '~') return home;
      if (found === '$$') return '$';
      const name = /^\$\{([A-Za-z_]\w*)\}$/.exec(found)?.[1];
      if (name === undefined) {
        throw errors.INVALID_CONFIG.noVariable(path, field, found);
      }
      const value = env[name];
      if (value === undefined) {
        throw errors.INVALID_CONFIG.unsetVariable(path, field, name);
      }
      return value;
    });
  };
}

/** Replaces `~` and `~/…` with the home folder; other texts stay as they are. */
export function fromHome(text: string, home: string): string {
  return text.replace(/^~(?=$|\/)/, () => home);
}

export function expandAgent(entry: AgentEntry, expand: Expand, field: string): AgentEntry {
  const { mcpServers } = entry;
  const own = mcpServers && expandMcpServers(mcpServers, expand, `${field}.mcpServers`);
  return { ...entry, ...expandProgram(entry, expand, field), ...(own && { mcpServers: own }) };
}

export const expandMcpServers = (servers: McpServers, expand: Expand, field: string): McpServers =>
  mapValues(servers, (server, name) => expandMcpServer(server, expand, `${field}.${name}`));

function expandMcpServer(server: McpServer, expand: Expand, field: string): McpServer {
  if (server.type === 'stdio') return { ...server, ...expandProgram(server, expand, field) };
  return {
    ...server,
    url: expand(server.url, `${field}.url`),
    headers: expandValues(server.headers, expand, `${field}.headers`),
  };
}

/** Replaces variables in the headers of a model server. */
export const expandHeaders = <Entry extends { headers?: Record<string, string> | undefined }>(
  entry: Entry,
  expand: Expand,
  field: string,
): Entry =>
  entry.headers === undefined
    ? entry
    : { ...entry, headers: expandValues(entry.headers, expand, `${field}.headers`) };

interface Program {
  command: string;
  args: string[];
  env: Record<string, string>;
}

function expandProgram({ command, args, env }: Program, expand: Expand, field: string): Program {
  return {
    command: expand(command, `${field}.command`),
    args: args.map((arg, at) => expand(arg, `${field}.args.${at}`)),
    env: expandValues(env, expand, `${field}.env`),
  };
}

function expandValues(
  values: Record<string, string>,
  expand: Expand,
  field: string,
): Record<string, string> {
  return mapValues(values, (value, name) => expand(value, `${field}.${name}`));
}

export function mapValues<T, U>(
  record: Record<string, T>,
  change: (value: T, key: string) => U,
): Record<string, U> {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key, change(value, key)]),
  );
}
