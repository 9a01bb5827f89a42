/** The provider of any agent that speaks the Agent Client Protocol. */
export type { AcpProviderOptions } from './acp-driver.ts';
export { AcpProvider } from './acp-provider.ts';
