/** Any agent that speaks the Agent Client Protocol; the built-in ones of its kind stand on this door alone. */
export type { AcpProviderOptions } from './acp-driver.ts';
export { AcpProvider } from './acp-provider.ts';
export { findProgram } from './availability.ts';
export type { AcpQuirks } from './translate/quirks.ts';
