/** What starting a session again needs. */
export interface RememberedSession {
  projectDir: string;
  agentSessionId: string;
  config: Record<string, string>;
  /** Whether the agent has something to take up again: most keep no session without a message. */
  isStored: boolean;
  /** What people are to be told in the next turn. */
  untold: readonly string[];
}
