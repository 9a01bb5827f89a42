export type { ClaudeCodeOptions } from './claude-driver.ts';
export { ClaudeCodeProvider } from './claude-provider.ts';
