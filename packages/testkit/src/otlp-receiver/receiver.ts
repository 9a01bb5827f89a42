/** Receives spans by OTLP over HTTP, in JSON and in protobuf, as a collector does. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { type ReceivedSpan, spansIn } from './spans.ts';

interface ReceivedRequest {
  path: string;
  headers: IncomingHttpHeaders;
  spans: ReceivedSpan[];
}

export type { ReceivedSpan };

export class OtlpReceiver {
  readonly url: string;
  readonly requests: ReceivedRequest[] = [];
  readonly close: () => Promise<void>;

  static async start(): Promise<OtlpReceiver> {
    const server = createServer((incoming, answer) => {
      receiver.#take(incoming).then(
        () => answer.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
        (error: unknown) => answer.writeHead(400).end(String(error)),
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('There is no port.');
    const receiver: OtlpReceiver = new OtlpReceiver(
      `http://127.0.0.1:${address.port}`,
      async () => {
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
      },
    );
    return receiver;
  }

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.close = close;
  }

  /** Returns the requests to a path, because several programs can send to one receiver. */
  at(path: string): { spans: ReceivedSpan[]; headers: IncomingHttpHeaders[] } {
    const requests = this.requests.filter((request) => request.path === path);
    return {
      spans: requests.flatMap(({ spans }) => spans),
      headers: requests.map(({ headers }) => headers),
    };
  }

  async #take(incoming: IncomingMessage): Promise<void> {
    const { headers, url: path = '' } = incoming;
    const sent = await buffer(incoming);
    const bytes = headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
    this.requests.push({ path, headers, spans: spansIn(bytes, headers['content-type']) });
  }
}
