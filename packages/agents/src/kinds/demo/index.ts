/** The agent type `demo`. */
export { DemoDriver, type DemoOptions } from './driver.ts';
