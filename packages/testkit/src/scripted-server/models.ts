import type { ServerResponse } from 'node:http';
import { sendJson } from './loopback.ts';

/** The models of `/v1/models`: either names, or entries in the format of a certain server. */
export type ScriptedModels = readonly (string | Record<string, unknown>)[];

export const defaultModels: ScriptedModels = ['scripted-model', 'scripted-model-mini'];

/** Replies to `GET /v1/models` in OpenAI's format. */
export function sendModels(response: ServerResponse, models: ScriptedModels): void {
  const data = models.map((model) =>
    typeof model === 'string'
      ? { id: model, object: 'model', created: 1_767_225_600, owned_by: 'scripted' }
      : model,
  );
  sendJson(response, 200, { object: 'list', data });
}
