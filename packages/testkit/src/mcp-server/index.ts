import { fileURLToPath } from 'node:url';

/** How to start an MCP server whose one tool, `greet {name}`, answers `<greeting>, <name>!`. */
export function greeter(greeting = 'Hello'): {
  type: 'stdio';
  command: string;
  args: string[];
  env: Record<string, string>;
} {
  return {
    type: 'stdio',
    command: process.execPath,
    args: [fileURLToPath(new URL('main.ts', import.meta.url))],
    env: { GREETING: greeting },
  };
}
