import { describeError } from '@liminal/client';
import { useClient, useConnection } from '@liminal/client/react';
import type { AgentInfo } from '@liminal/protocol';
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useState,
} from 'react';

interface Agents {
  /** The agents that the server knows; `undefined` until they are loaded. */
  agents: readonly AgentInfo[] | undefined;
  problem?: string;
  /** Loads them again. */
  refresh: () => void;
}

const AgentsContext = createContext<Agents>({ agents: undefined, refresh: () => undefined });

/** Loads the agents whenever the page connects, because agents may have been installed or removed since. */
export function AgentsProvider({ children }: { children: ReactNode }) {
  const { requests } = useClient();
  const connected = useConnection().state === 'open';
  const [known, setKnown] = useState<Omit<Agents, 'refresh'>>({ agents: undefined });
  const refresh = useCallback(() => {
    requests.listAgents().then(
      (agents) => setKnown({ agents }),
      (error: unknown) => setKnown((held) => ({ ...held, problem: describeError(error).message })),
    );
  }, [requests]);
  useEffect(() => {
    if (connected) refresh();
  }, [connected, refresh]);
  const value = useMemo(() => ({ ...known, refresh }), [known, refresh]);
  return <AgentsContext value={value}>{children}</AgentsContext>;
}

export function useAgents(): Agents {
  return useContext(AgentsContext);
}

/** Returns an agent's information; undefined if the agent is not known. */
export function useAgent(cliType: string | undefined): AgentInfo | undefined {
  const { agents } = useAgents();
  return agents?.find((agent) => agent.cliType === cliType);
}

/**
 * Loads the agents again when this agent has answered for the first time, because an ACP agent reports only then that
 * it can fork sessions.
 */
export function useForksOnceAnswered(cliType: string | undefined, hasAnswered: boolean): void {
  const { agents, refresh } = useAgents();
  const agent = agents?.find((one) => one.cliType === cliType);
  const isUnknown = agent !== undefined && agent.forks === undefined;
  useEffect(() => {
    if (hasAnswered && isUnknown) refresh();
  }, [hasAnswered, isUnknown, refresh]);
}

/** Returns an agent's name for people; until the name is loaded, returns the agent's type. */
export function useAgentName(cliType: string | undefined): string {
  const agent = useAgent(cliType);
  return agent?.name ?? cliType ?? 'the agent';
}
