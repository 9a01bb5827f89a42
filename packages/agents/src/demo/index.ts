import type { CliProvider } from '../provider.ts';
import { DemoProvider, type DemoOptions } from './provider.ts';

export type { DemoOptions } from './provider.ts';

/** The agent type `demo`. */
export function createDemoProvider(options?: DemoOptions): CliProvider {
  return new DemoProvider(options);
}
