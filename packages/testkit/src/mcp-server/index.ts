import { fileURLToPath } from 'node:url';

/**
 * The command of an MCP server whose tool `greet {name}` answers `<greeting>, <name>!`; `main.ts` lists its other
 * tools.
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

/** Like `greeter`, but with a resource, `notes://today`, whose text is `note`. */
export function noteKeeper(note: string): ReturnType<typeof greeter> {
  const { env, ...server } = greeter();
  return { ...server, env: { ...env, NOTE: note } };
}
