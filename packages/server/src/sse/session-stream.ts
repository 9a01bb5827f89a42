import { serverOperations } from '@liminal/protocol';
import type { Outgoing, Runtime } from '@liminal/runtime';
import type { Connections } from '../connections.ts';
import { routeOf } from '../http/routes.ts';
import type { App } from '../http/schema.ts';
import type { ServerSentEvent } from './event-stream.ts';
import type { EventStreams } from './event-streams.ts';
import { lastEventId } from './last-event-id.ts';

interface SessionStreamOptions {
  runtime: Runtime;
  connections: Connections;
  streams: EventStreams;
}

/**
 * Streams a session as server-sent events. The messages are the same as on the WebSocket; the id of each event is its
 * cursor.
 */
export async function sessionStreamRoute(
  app: App,
  { runtime, connections, streams }: SessionStreamOptions,
) {
  app.route({
    ...routeOf(serverOperations.followSession),
    exposeHeadRoute: false,
    handler: async ({ params: { id }, query, headers }, reply) => {
      // This throws for an unknown session, before the status of the response is sent.
      await runtime.status(id);
      const stream = streams.open({
        onDrained: () => subscription.drained(),
        onClosed: () => {
          subscription.close();
          connections.subscriptions -= 1;
        },
      });
      connections.subscriptions += 1;
      const subscription = runtime.subscribe(
        id,
        { cursor: lastEventId(headers) ?? query.cursor, deltas: query.deltas === '1' },
        {
          send: (outgoing) => {
            const hasRoom = stream.send(toEvent(outgoing));
            if (outgoing.message.type === 'session:deleted') stream.end();
            return hasRoom;
          },
        },
      );
      return stream.answer(reply);
    },
  });
}

/**
 * Converts a message to a server-sent event. The message `session:upsert` becomes the event `upsert`. An event named
 * `error` would look like the browser's own error event, so the message `session:error` becomes the event `problem`.
 */
function toEvent(outgoing: Outgoing): ServerSentEvent {
  const { message } = outgoing;
  const event = message.type === 'session:error' ? 'problem' : message.type.replace(/^\w+:/, '');
  return { event, data: outgoing.json(), id: 'cursor' in message ? message.cursor : undefined };
}
