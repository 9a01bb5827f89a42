import type { TurnView } from '@liminal/client';
import { KeyRound, TriangleAlert } from 'lucide-react';
import { useAgent, useAgents } from '../app/agents.tsx';
import { Button } from '../look/controls.tsx';
import { Advice } from '../look/Advice.tsx';
import css from './AgentNotice.module.css';

interface AgentNoticeProps {
  cliType: string | undefined;
  /** The session's turns. */
  turns: readonly TurnView[];
}

/** Shows why a session's agent cannot work, so that a person reads this before writing a message. */
export function AgentNotice({ cliType, turns }: AgentNoticeProps) {
  const { refresh } = useAgents();
  const agent = useAgent(cliType);
  if (agent?.reason === undefined || (agent.available && isNeedless(turns))) return null;
  const Icon = agent.available ? KeyRound : TriangleAlert;
  return (
    <div className={css.notice} role="status">
      <Icon size={15} aria-hidden="true" />
      <div className={css.words}>
        <strong>
          {agent.available ? `${agent.name} is not ready` : `${agent.name} is not set up`}
        </strong>
        <Advice text={agent.reason} />
      </div>
      <Button look="quiet" onClick={refresh}>
        Check again
      </Button>
    </div>
  );
}

/**
 * Whether the notice can be left out, because the agent has completed a turn in the session, or because the failure of
 * the last turn shows the same advice.
 */
function isNeedless(turns: readonly TurnView[]): boolean {
  const hasAnswered = turns.some(({ status }) => status === 'complete');
  return hasAnswered || turns.at(-1)?.error?.code === 'AUTH_REQUIRED';
}
