/** Any agent that speaks the Agent Client Protocol over stdio. */
export { AcpDriver, type AcpProviderOptions } from './acp-driver.ts';
