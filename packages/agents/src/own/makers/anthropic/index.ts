/** The client for models behind Anthropic's Messages API. */
export { AnthropicClient, type AnthropicOptions } from './anthropic-client.ts';
