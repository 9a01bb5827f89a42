/** The bytes of an answer, as the values that it is made of. */
import { createParser } from 'eventsource-parser';
import { OpenAI } from 'openai';
import { isRecord } from '../base/parse-line.ts';

/** What came of an answer at once. */
export interface Arrived {
  chunks: unknown[];
  /** The server has said that this is the end of its answer (`[DONE]`); one that does not stream has, by ending it. */
  isEnd: boolean;
}

/**
 * The events of a streamed answer, as many at a time as have come; of a server that does not stream, the answer itself.
 * The SDK's own stream waits several times for each event, which a fast server has many of.
 * @throws OpenAI.APIError if it is an error, under whatever status. SyntaxError if an event is no JSON.
 */
export async function* chunksOf(response: Response): AsyncGenerator<Arrived> {
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
  // Some servers end without the empty line that ends the last event.
  parser.feed(`${decoder.decode()}\n\n`);
  yield { chunks, isEnd };
}
