import { describeError } from '@liminal/client';
import { useClient } from '@liminal/client/react';
import type { AgentInfo } from '@liminal/protocol';
import { useState } from 'react';
import { useAgents } from '../app/agents.tsx';
import { Button } from '../look/controls.tsx';
import { Dialog } from '../look/Dialog.tsx';
import css from './AgentSessions.module.css';

/** Lists the sessions that agents made outside Liminal. Asking an agent for its sessions starts the agent's program. */
export default function AgentSessions({ onClose }: { onClose: () => void }) {
  const { agents = [] } = useAgents();
  const asked = agents.filter((agent) => agent.sessionsOnRequest === true && agent.available);
  return (
    <Dialog title="Import sessions" onClose={onClose}>
      <div className={css.body}>
        <p>
          {asked.length === 0
            ? 'There is no agent here that has to be asked for them.'
            : 'Liminal starts an agent’s program to list the sessions that the agent keeps. They appear in the sidebar.'}
        </p>
        <ul>
          {asked.map((agent) => (
            <AgentRow key={agent.cliType} agent={agent} />
          ))}
        </ul>
      </div>
    </Dialog>
  );
}

function AgentRow({ agent: { cliType, name } }: { agent: AgentInfo }) {
  const { requests } = useClient();
  const [outcome, setOutcome] = useState<string>();
  const [isLooking, setLooking] = useState(false);
  const look = () => {
    setLooking(true);
    setOutcome(undefined);
    requests
      .findSessions(cliType)
      .then(
        ({ length }) => setOutcome(length === 0 ? 'None found.' : `${length} found.`),
        (error: unknown) => setOutcome(describeError(error).message),
      )
      .finally(() => setLooking(false));
  };
  return (
    <li>
      <span className={css.name}>{name}</span>
      <span role="status" className={css.outcome}>
        {isLooking ? 'Loading…' : outcome}
      </span>
      <Button onClick={look} disabled={isLooking} aria-label={`Import sessions of ${name}`}>
        Import
      </Button>
    </li>
  );
}
