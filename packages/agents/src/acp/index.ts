/** Any agent that speaks the Agent Client Protocol; the built-in ones of this kind import only this file. */
export type { AcpProviderOptions } from './acp-driver.ts';
export { AcpProvider } from './acp-provider.ts';
export { describeCommand, findProgram } from './availability.ts';
