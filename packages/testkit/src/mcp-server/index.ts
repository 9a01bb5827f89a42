import { fileURLToPath } from 'node:url';

/**
 * Returns the command of an MCP server whose tool `greet {name}` answers `<greeting>, <name>!`. `main.ts` lists the
 * server's other tools.
 */
export function greeter(
  greeting = 'Hello',
  title?: string,
): {
  type: 'stdio';
  command: string;
  args: string[];
  env: Record<string, string>;
} {
  return {
    type: 'stdio',
    command: process.execPath,
    args: [fileURLToPath(new URL('main.ts', import.meta.url))],
    env: { GREETING: greeting, ...(title !== undefined && { TITLE: title }) },
  };
}

/** Returns the same as `greeter`, but the server also has a resource, `notes://today`, whose text is `note`. */
export function noteKeeper(note: string): ReturnType<typeof greeter> {
  const { env, ...server } = greeter();
  return { ...server, env: { ...env, NOTE: note } };
}
