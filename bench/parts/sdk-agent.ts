/**
 * An ACP agent on stdio, made with the protocol's own SDK. The prompt is a number: the agent sends that many chunks,
 * as fast as the client reads them.
 */
import { Readable, Writable } from 'node:stream';
import { agent, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';

const text = 'x'.repeat(15).concat(' ');

const app = agent({ name: 'bench' })
  .onRequest(methods.agent.initialize, () => ({ protocolVersion: PROTOCOL_VERSION }))
  .onRequest(methods.agent.session.new, () => ({ sessionId: 'bench' }))
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const [asked] = params.prompt;
    const count = asked?.type === 'text' ? Number(asked.text.split(' ')[0]) : 0;
    const { sessionId } = params;
    const content = { type: 'text' as const, text };
    const update = { sessionUpdate: 'agent_message_chunk' as const, content };
    for (let sent = 0; sent < count; sent += 1) {
      await client.notify(methods.client.session.update, { sessionId, update });
    }
    return { stopReason: 'end_turn' as const };
  });

const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
app.connect(ndJsonStream(Writable.toWeb(process.stdout), input));
