import type { McpServerState } from '@liminal/protocol';

/** The states of an MCP server, as people read them. */
export const mcpStates: Readonly<Record<McpServerState['state'], string>> = {
  connected: 'Connected',
  starting: 'Starting',
  failed: 'Failed',
  'signed-out': 'Wants you to sign in',
  off: 'Switched off',
  unknown: 'Unknown',
};
