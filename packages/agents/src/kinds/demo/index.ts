import { DriverProvider } from '../../base/driver-provider.ts';
import type { CliProvider } from '../../contract/provider.ts';
import { DemoDriver, type DemoOptions } from './driver.ts';

export type { DemoOptions } from './driver.ts';

/** The agent type `demo`. */
export function createDemoProvider(options?: DemoOptions): CliProvider {
  return new DriverProvider(new DemoDriver(options));
}
