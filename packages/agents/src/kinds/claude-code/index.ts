/** Claude Code, through Anthropic's Agent SDK. */
export { ClaudeDriver, type ClaudeCodeOptions } from './claude-driver.ts';
