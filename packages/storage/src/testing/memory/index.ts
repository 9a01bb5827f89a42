/** Storage in memory, which is lost when the process ends. */
export * from './open.ts';
