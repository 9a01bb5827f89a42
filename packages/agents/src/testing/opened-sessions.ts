import type { AgentDriver, AgentSession } from '../contract/driver.ts';

/** Adds each session that the driver opens from now on to the list, and returns the list. */
export function openedSessions(driver: AgentDriver, sessions: AgentSession[] = []): AgentSession[] {
  const open = driver.open.bind(driver);
  driver.open = async (opening) => {
    const session = await open(opening);
    sessions.push(session);
    return session;
  };
  return sessions;
}
