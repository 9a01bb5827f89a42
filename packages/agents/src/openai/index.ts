export { translateChat } from './chat/translate.ts';
export { OpenAiClient, type OpenAiClientOptions } from './openai-client.ts';
export { translateResponses } from './responses/translate.ts';
export type { Translation } from './translated-turn.ts';
