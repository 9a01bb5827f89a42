export { ClaudeCodeProvider, type ClaudeCodeOptions } from './claude-provider.ts';
