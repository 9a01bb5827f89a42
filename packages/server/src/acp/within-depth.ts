import type {
  AgentApp,
  AgentConnection,
  AnyMessage,
  Stream,
} from '@agentclientprotocol/sdk/unstable';
import { withinDepth } from '@liminal/protocol';

/**
 * The same agent, which gets a client's messages without the parts that are nested too deeply. The SDK repeats an invalid
 * message in its answer, and ends the connection if it cannot write that as JSON.
 */
export function cutDeepMessages(app: AgentApp): AgentApp {
  // The SDK's server passes options that its types do not declare.
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
