/** Bare models as agents: the conversation, the tool loop, and the interface for clients of makers' APIs. */
export type { ModelPrices, ModelServer } from './catalog.ts';
export { createModelDrivers, type ModelOptions } from './model-driver.ts';
export { LazyClient } from './lazy-client.ts';
export type { ModelClient } from './model-client.ts';
