/** Splits the bytes of an answer into its JSON values. */
import { createParser } from 'eventsource-parser';
import { OpenAI } from 'openai';
import { isRecord } from '../../../base/parse-line.ts';

/** The values that arrived together. */
export interface AnswerChunks {
  chunks: unknown[];
  /** Whether the server has sent the end marker (`[DONE]`), or has completed an answer that is not streamed. */
  isEnd: boolean;
}

/**
 * Yields the events of a streamed answer, in batches as they arrive; if the server does not stream, yields the whole
 * answer. The SDK's own stream awaits several promises for each event, which is slow if the server is fast.
 * @throws OpenAI.APIError if the answer is an error, whatever the status. SyntaxError if an event is not JSON.
 */
export async function* chunksOf(response: Response): AsyncGenerator<AnswerChunks> {
  if (/^application\/json\b/.test(response.headers.get('content-type') ?? '')) {
    const answer: unknown = await response.json();
    if (isRecord(answer) && answer['error'] != null) {
      throw new OpenAI.APIError(response.status, answer, undefined, response.headers);
    }
    yield { chunks: [answer], isEnd: true };
    return;
  }
  let chunks: unknown[] = [];
  let isEnd = false;
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data.startsWith('[DONE]')) isEnd = true;
      else if (data !== '') chunks.push(JSON.parse(data));
    },
  });
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    yield { chunks, isEnd };
    chunks = [];
  }
  // Some servers send no empty line after the last event.
  parser.feed(`${decoder.decode()}\n\n`);
  yield { chunks, isEnd };
}
