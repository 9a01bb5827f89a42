/** Storage that ends with the process. */
export * from './open.ts';
