import { join } from 'node:path';

/**
 * Returns the environment in which the real Claude Code runs against a scripted Messages API: without a key, without
 * network access, and without the user's own configuration.
 */
export const claudeEnvironment = (home: string, apiUrl: string): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  HOME: home,
  TMPDIR: home,
  CLAUDE_CONFIG_DIR: join(home, '.claude'),
  ANTHROPIC_BASE_URL: apiUrl,
  ANTHROPIC_API_KEY: 'scripted',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
  CLAUDE_CODE_MAX_RETRIES: '2',
  // Makes Claude Code wait until the tools of MCP servers are ready before the first message, even on a busy machine.
  MCP_CONNECTION_NONBLOCKING: 'false',
});
