import { OpenAI } from 'openai';
import { modelFetch } from '../../loop/model-fetch.ts';
import { longestTimer } from '../../loop/fetch-without-timeout.ts';

/** A placeholder, because the SDK requires a key. The placeholder is never sent. */
const noKey = 'none';

const sentHeaders = ['accept', 'authorization', 'content-type', 'user-agent'];

/**
 * OpenAI's SDK without its defaults. The client makes one attempt, waits without a limit, and logs nothing. The client
 * reads no environment variables, because a key from the environment could be sent to the wrong server.
 */
export class OpenAiSdk extends OpenAI {
  /** @param more - Headers for every request; they replace the SDK's own headers of the same name. */
  constructor(baseURL: string, apiKey: string | undefined, more: Record<string, string> = {}) {
    super({
      baseURL,
      apiKey: apiKey ?? noKey,
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      maxRetries: 0,
      timeout: longestTimer,
      logLevel: 'off',
      defaultHeaders: { 'user-agent': 'Liminal' },
      fetch: (input, init) =>
        modelFetch(input, { ...init, headers: headersOf(init, apiKey, more) }),
    });
  }
}

function headersOf(
  init: RequestInit | undefined,
  apiKey: string | undefined,
  more: Record<string, string>,
): Headers {
  const isSent = (name: string): boolean =>
    sentHeaders.includes(name) && (name !== 'authorization' || apiKey !== undefined);
  const headers = new Headers([...new Headers(init?.headers)].filter(([name]) => isSent(name)));
  for (const [name, value] of Object.entries(more)) headers.set(name, value);
  return headers;
}
