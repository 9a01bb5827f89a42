/**
 * An ACP agent that answers each prompt with the lines of a file: `node hostile-agent.ts FILE`. In each line, the agent
 * replaces `{{sessionId}}` by the session's id.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { once } from 'node:events';

const [file = ''] = process.argv.slice(2);
const sessionId = 'hostile';

interface Call {
  id?: number;
  method?: string;
}

const answer = (id: number, result: object): boolean =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);

async function play(): Promise<void> {
  for await (const line of createInterface(createReadStream(file))) {
    if (!process.stdout.write(`${line.replaceAll('{{sessionId}}', sessionId)}\n`)) {
      await once(process.stdout, 'drain');
    }
  }
}

for await (const line of createInterface(process.stdin)) {
  const { id, method } = JSON.parse(line) as Call;
  if (id === undefined) continue;
  if (method === 'initialize') answer(id, { protocolVersion: 1, agentCapabilities: {} });
  else if (method === 'session/new') answer(id, { sessionId });
  else if (method === 'session/prompt') {
    await play();
    answer(id, { stopReason: 'end_turn' });
  } else answer(id, {});
}
