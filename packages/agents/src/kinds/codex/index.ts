/** Codex, by `codex app-server`. */
export { CodexDriver, type CodexOptions } from './codex-driver.ts';
