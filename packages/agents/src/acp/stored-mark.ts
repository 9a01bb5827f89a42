import type { AcpAgent } from './acp-agent.ts';
import { pages } from './listed-sessions.ts';

/** How long an agent may take to say when a session was last changed, ms: a message waits for that. */
const markLimitMs = 1_000;

/** When a session was last changed, from the agent's list; undefined if that does not say. */
export async function storedMark(
  agent: AcpAgent,
  sessionId: string,
  cwd: string,
): Promise<string | undefined> {
  if (agent.capabilities.sessionCapabilities?.list !== true) return undefined;
  const find = async (): Promise<string | undefined> => {
    for await (const page of pages(agent, cwd)) {
      const found = page.find((one) => one.sessionId === sessionId);
      if (found) return found.updatedAt ?? undefined;
    }
    return undefined;
  };
  return agent.within(markLimitMs, find()).catch(() => undefined);
}
