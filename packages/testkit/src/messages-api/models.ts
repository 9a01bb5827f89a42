import type { ServerResponse } from 'node:http';
import { sendJson } from '../scripted-server/loopback.ts';

/** A model in the format of `/v1/models`. Fields that a script does not set are not sent. */
export interface ModelEntry {
  id: string;
  display_name?: string;
  max_input_tokens?: number;
  max_tokens?: number;
  capabilities?: Record<string, unknown>;
}

/** Sends the page of models that the query requests. */
export function sendModels(
  response: ServerResponse,
  path: string,
  models: ModelEntry[],
  perPage: number,
): void {
  const query = new URL(path, 'http://localhost').searchParams;
  const from = models.findIndex(({ id }) => id === query.get('after_id')) + 1;
  const limit = Math.min(Number(query.get('limit') ?? 20), perPage);
  const data = models.slice(from, from + limit).map((model) => ({ type: 'model', ...model }));
  sendJson(response, 200, {
    data,
    has_more: from + limit < models.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  });
}
