import { DriverProvider } from '../../base/driver-provider.ts';
import { CodexDriver, type CodexOptions } from './codex-driver.ts';

export type { CodexOptions } from './codex-driver.ts';

/** Codex, by `codex app-server`. */
export const createCodexProvider = (options: CodexOptions = {}): DriverProvider =>
  new DriverProvider(new CodexDriver(options));
