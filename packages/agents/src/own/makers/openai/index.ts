export { OpenAiClient, type OpenAiClientOptions } from './openai-client.ts';
