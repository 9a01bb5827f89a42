import type { AcpAgent } from './acp-agent.ts';
import { pages } from './listed-sessions.ts';

/** How long an agent may take to report a session's last change, in ms; a person's message waits for the report. */
const markLimitMs = 1_000;

/**
 * Returns the time of a session's last change from the agent's list; undefined if the list lacks the session or its
 * time.
 */
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
