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
import { RequestError } from '../http/errors.ts';
import { routeOf } from '../http/routes.ts';
import type { App } from '../http/schema.ts';
import type { EventStream } from './event-stream.ts';
import type { EventStreams } from './event-streams.ts';
import { lastEventId } from './last-event-id.ts';
import { uuidOf } from './uuid-of.ts';

interface Options {
  runtime: Runtime;
  streams: EventStreams;
}

/** The wire forms of a run. */
const forms = {
  canonical: { event: (event: StreamEvent) => event, run: (run: Response) => run },
  responses: {
    event: (event: StreamEvent) => toResponsesEvent(event, uuidOf),
    run: (run: Response) => toResponsesResponse(run, uuidOf),
  },
};
type Form = (typeof forms)[keyof typeof forms];

/**
 * Streams a run's canonical events, each named by its type, or one `snapshot` if the log has dropped them, in the
 * requested form.
 */
export async function runStreamRoute(app: App, { runtime, streams }: Options) {
  app.route({
    ...routeOf(serverOperations.followRun),
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const { id } = request.params;
      const after = positionIn(id, lastEventId(request.headers));
      // Browsers reconnect after the end of a stream, until the response is 204.
      const waits = request.query.wait === '1';
      const form = forms[request.query.format ?? 'canonical'];
      const run = await runtime.getRun(id).catch((error: unknown) => {
        const isMissing = error instanceof LiminalError && error.code === 'RUN_NOT_FOUND';
        if (!waits || !isMissing) throw error;
      });
      if (run && isOver(run, after)) return reply.code(204).send();

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
      copy(feed, stream, form, waitForRoom, gone.signal).catch((error: unknown) => {
        request.log.error({ err: error }, 'a run’s event stream failed');
      });
      return stream.answer(reply);
    },
  });
}

async function copy(
  feed: RunFeed,
  stream: EventStream,
  form: Form,
  waitForRoom: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  try {
    if (feed.kind === 'snapshot') sendSnapshot(stream, feed.response, form);
    else {
      for await (const event of feed.events) {
        if (!sendEvent(stream, event, form)) await waitForRoom();
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    stream.end();
  }
}

function sendEvent(stream: EventStream, event: StreamEvent, form: Form): boolean {
  const told = form.event(event);
  return stream.send({ event: told.type, id: event.eventId, data: JSON.stringify(told) });
}

function sendSnapshot(stream: EventStream, response: Response, form: Form): void {
  const id = encodeCursor({ runId: response.id, seq: response.lastSeq });
  stream.send({ event: 'snapshot', id, data: JSON.stringify(form.run(response)) });
}

function positionIn(runId: string, eventId: string | undefined): number {
  if (eventId === undefined) return -1;
  const position = decodeCursor(eventId);
  if (position?.runId === runId) return position.seq;
  throw new RequestError('INVALID_CURSOR', 'Last-Event-ID is not the id of an event of this run.');
}

function isOver(run: Response, after: number): boolean {
  return run.status !== 'queued' && run.status !== 'in_progress' && after >= run.lastSeq;
}
