import {
  decodeCursor,
  encodeCursor,
  LiminalError,
  type Response,
  serverOperations,
  type StreamEvent,
  toResponsesEvent,
  toResponsesResponse,
} from '@liminal/protocol';
import type { RunFeed, Runtime } from '@liminal/runtime';
import { errors } from '../errors.ts';
import { routeOf } from '../http/routes.ts';
import type { App } from '../http/schema.ts';
import type { EventStream } from './event-stream.ts';
import type { EventStreams } from './event-streams.ts';
import { lastEventId } from './last-event-id.ts';
import { uuidOf } from './uuid-of.ts';

interface RunStreamOptions {
  runtime: Runtime;
  streams: EventStreams;
}

/** The wire forms of a run. */
const formats = {
  canonical: { event: (event: StreamEvent) => event, run: (run: Response) => run },
  responses: {
    event: (event: StreamEvent) => toResponsesEvent(event, uuidOf),
    run: (run: Response) => toResponsesResponse(run, uuidOf),
  },
};
type RunFormat = (typeof formats)[keyof typeof formats];

/**
 * Streams a run's canonical events in the requested form. Each server-sent event has the name of the event's type. If
 * the log has already dropped events, the stream contains one `snapshot` instead.
 */
export async function runStreamRoute(app: App, { runtime, streams }: RunStreamOptions) {
  app.route({
    ...routeOf(serverOperations.followRun),
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const { id } = request.params;
      const after = seqIn(id, lastEventId(request.headers));
      // Browsers reconnect after the end of a stream unless the response has the status 204.
      const waits = request.query.wait === '1';
      const format = formats[request.query.format ?? 'canonical'];
      const run = await runtime.getRun(id).catch((error: unknown) => {
        const isMissing = error instanceof LiminalError && error.code === 'RUN_NOT_FOUND';
        if (!waits || !isMissing) throw error;
      });
      if (run && isFullyRead(run, after)) return reply.code(204).send();

      const gone = new AbortController();
      let drained = Promise.withResolvers<void>();
      const stream = streams.open({
        onDrained: () => drained.resolve(),
        onClosed: () => {
          gone.abort();
          drained.resolve();
        },
      });
      const waitForRoom = async () => {
        await drained.promise;
        drained = Promise.withResolvers();
      };
      const feed = await runtime.followRun(id, { after, signal: gone.signal, waits });
      copy(feed, stream, format, waitForRoom, gone.signal).catch((error: unknown) => {
        request.log.error({ err: error }, 'a run’s event stream failed');
      });
      return stream.answer(reply);
    },
  });
}

async function copy(
  feed: RunFeed,
  stream: EventStream,
  format: RunFormat,
  waitForRoom: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  try {
    if (feed.kind === 'snapshot') sendSnapshot(stream, feed.response, format);
    else {
      for await (const event of feed.events) {
        if (!sendEvent(stream, event, format)) await waitForRoom();
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    stream.end();
  }
}

function sendEvent(stream: EventStream, event: StreamEvent, format: RunFormat): boolean {
  const wireEvent = format.event(event);
  return stream.send({ event: wireEvent.type, id: event.eventId, data: JSON.stringify(wireEvent) });
}

function sendSnapshot(stream: EventStream, response: Response, format: RunFormat): void {
  const id = encodeCursor({ runId: response.id, seq: response.lastSeq });
  stream.send({ event: 'snapshot', id, data: JSON.stringify(format.run(response)) });
}

function seqIn(runId: string, eventId: string | undefined): number {
  if (eventId === undefined) return -1;
  const position = decodeCursor(eventId);
  if (position?.runId === runId) return position.seq;
  throw errors.INVALID_CURSOR.notOfRun();
}

function isFullyRead(run: Response, after: number): boolean {
  return run.status !== 'queued' && run.status !== 'in_progress' && after >= run.lastSeq;
}
