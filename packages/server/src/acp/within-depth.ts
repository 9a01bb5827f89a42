import type {
  AgentApp,
  AgentConnection,
  AnyMessage,
  Stream,
} from '@agentclientprotocol/sdk/unstable';
import { withinDepth } from '@liminal/protocol';

/**
 * Removes parts that are nested too deeply from a client's messages. If deep parts were not removed, the SDK would
 * repeat an invalid message in its response, and end the connection if it could not write the response as JSON.
 */
export function cutDeepMessages(app: AgentApp): AgentApp {
  // The SDK's server passes further arguments to `connect`, which the SDK's types do not declare.
  const connect = app.connect.bind(app) as (...args: [Stream, ...unknown[]]) => AgentConnection;
  return Object.assign(app, {
    connect: ({ readable, writable }: Stream, ...options: unknown[]) => {
      const cut = new TransformStream<AnyMessage, AnyMessage>({
        transform: (message, controller) => controller.enqueue(withinDepth(message)),
      });
      return connect({ readable: readable.pipeThrough(cut), writable }, ...options);
    },
  });
}
