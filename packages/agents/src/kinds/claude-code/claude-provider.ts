import { DriverProvider } from '../../base/driver-provider.ts';
import type { CliProvider } from '../../contract/provider.ts';
import { ClaudeDriver, type ClaudeCodeOptions } from './claude-driver.ts';

/** Claude Code through Anthropic's Agent SDK. */
export class ClaudeCodeProvider extends DriverProvider {
  declare readonly listStoredSessions: NonNullable<CliProvider['listStoredSessions']>;
  declare readonly storedMark: NonNullable<CliProvider['storedMark']>;
  declare readonly readStoredHistory: NonNullable<CliProvider['readStoredHistory']>;

  constructor(options?: ClaudeCodeOptions) {
    super(new ClaudeDriver(options));
  }
}
