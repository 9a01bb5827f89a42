import type { TurnView } from '@liminal/client';
import { isInterruption } from '@liminal/protocol';
import { KeyRound, Unplug } from 'lucide-react';
import type { ReactNode } from 'react';
import { useAgent, useAgentName } from '../app/agents.tsx';
import { ErrorNote } from './Notes.tsx';
import { useSessionActions } from './session-actions.ts';

interface TurnFailureProps {
  error: TurnView['error'];
  /** Whether a later turn follows. */
  isOld: boolean;
  /** Buttons below the message. */
  children: ReactNode;
}

/** Shows why a turn failed, with advice if the cause is outside of this page. `Announcer` announces the failure. */
export function TurnFailure({ error, isOld, children }: TurnFailureProps) {
  const { cliType } = useSessionActions();
  const name = useAgentName(cliType);
  const agent = useAgent(cliType);
  const code = error?.code ?? '';
  const title = Object.hasOwn(titles, code) ? titles[code]?.(name) : undefined;
  const message = { code: error?.code, message: error?.message, isNew: false, isOld };
  if (title === undefined) {
    return (
      <ErrorNote title="Something went wrong" {...message}>
        {children}
      </ErrorNote>
    );
  }
  // For AUTH_REQUIRED, the agent's own message is about the protocol, while the advice in `agent.reason` is about the
  // program.
  const advice = error?.code === 'AUTH_REQUIRED' ? agent?.reason : undefined;
  return (
    <ErrorNote
      title={title}
      Icon={isInterruption(code) ? Unplug : KeyRound}
      advice={advice}
      {...message}
    >
      {children}
    </ErrorNote>
  );
}

/** Whether a turn failed because its agent is not signed in. */
export const isSignInFailure = (code: string | undefined): boolean =>
  code === 'AUTH_REQUIRED' || code === 'AUTHENTICATION_FAILED';

const interrupted = (): string => 'The server restarted while the agent was working';

const titles: Record<string, (name: string) => string> = {
  OWNER_LOST: interrupted,
  SERVER_ENDED: interrupted,
  AUTH_REQUIRED: (name) => `${name} is not signed in`,
  AUTHENTICATION_FAILED: (name) => `${name} could not sign in`,
};
