import { describeError } from '@liminal/client';
import { useClient, useConnection } from '@liminal/client/react';
import type { AgentInfo } from '@liminal/protocol';
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';

/** The agents that the server knows; `undefined` until it has said so. */
interface Agents {
  agents: readonly AgentInfo[] | undefined;
  problem?: string;
}

const AgentsContext = createContext<Agents>({ agents: undefined });

/** Asks for the agents at each connect: what can run changes with what is installed. */
export function AgentsProvider({ children }: { children: ReactNode }) {
  const { requests } = useClient();
  const connected = useConnection().state === 'open';
  const [agents, setAgents] = useState<Agents>({ agents: undefined });
  useEffect(() => {
    if (!connected) return;
    requests.listAgents().then(
      (list) => setAgents({ agents: list }),
      (error: unknown) => setAgents((held) => ({ ...held, problem: describeError(error).message })),
    );
  }, [connected, requests]);
  return <AgentsContext value={agents}>{children}</AgentsContext>;
}

export function useAgents(): Agents {
  return useContext(AgentsContext);
}

/** An agent's name for people, its type until it is known. */
export function useAgentName(cliType: string | undefined): string {
  const { agents } = useAgents();
  if (cliType === undefined) return 'the agent';
  return agents?.find((agent) => agent.cliType === cliType)?.name ?? cliType;
}
