/** Models behind Anthropic's Messages API. */
export { AnthropicClient, type AnthropicOptions } from './anthropic-client.ts';
export { type MessagesEvent, translateMessages } from './translate.ts';
