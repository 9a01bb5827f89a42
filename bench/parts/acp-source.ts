import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { acpAgent, type AcpAgent } from '@liminal/testkit';

/** The number of chunks, and the number of chunks a second (0: as fast as the client reads). */
export interface Flood {
  count: number;
  rate: number;
}

export const promptOf = ({ count, rate }: Flood): string => `${count} ${rate}`;

/** The scripted ACP agent. For each prompt, the agent plays one of these floods. */
export function floodingAgent(floods: readonly Flood[]): Promise<AcpAgent> {
  return acpAgent({
    turns: floods.map((flood) => ({
      when: promptOf(flood),
      steps: [{ flood: { count: flood.count, ...(flood.rate > 0 && { rate: flood.rate }) } }],
    })),
  });
}

interface AcpMessage {
  id?: number;
  method?: string;
  result?: { sessionId?: string };
  params?: { update?: { content?: { text?: string } } };
}

/**
 * Runs the agent's flood without Liminal: parses each line and calls `onText` with its text. Resolves when the flood is
 * over.
 */
export async function readAcpSource(flood: Flood, onText: (text: string) => void): Promise<void> {
  const { command, args, env, control } = await floodingAgent([flood]);
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const cwd = process.cwd();
  const ask = (id: number, method: string, params: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  const hear = ({ id, result, params }: AcpMessage): void => {
    const text = params?.update?.content?.text;
    if (text !== undefined) return onText(text);
    if (id === 0) ask(1, 'session/new', { cwd, mcpServers: [] });
    const prompt = [{ type: 'text', text: promptOf(flood) }];
    if (id === 1) ask(2, 'session/prompt', { sessionId: result?.sessionId, prompt });
    if (id === 2) child.kill('SIGKILL');
  };
  let rest = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) hear(JSON.parse(line) as AcpMessage);
  });
  ask(0, 'initialize', { protocolVersion: 1, clientCapabilities: {} });
  await exited;
  await control.close();
}
