import type { TurnView } from '@liminal/client';
import { KeyRound } from 'lucide-react';
import type { ReactNode } from 'react';
import { useAgent, useAgentName } from '../app/agents.tsx';
import { ErrorNote } from './Notes.tsx';
import { useSessionActions } from './session-actions.ts';

interface TurnFailureProps {
  error: TurnView['error'];
  /** What can be done about it. */
  children: ReactNode;
}

/** Why a turn failed. What a person has to mend outside of this page is said as that. `Announcer` says it aloud. */
export function TurnFailure({ error, children }: TurnFailureProps) {
  const { cliType } = useSessionActions();
  const name = useAgentName(cliType);
  const agent = useAgent(cliType);
  const code = error?.code ?? '';
  const title = Object.hasOwn(titles, code) ? titles[code]?.(name) : undefined;
  const message = { code: error?.code, message: error?.message, isNews: false };
  if (title === undefined) {
    return (
      <ErrorNote title="The turn failed" {...message}>
        {children}
      </ErrorNote>
    );
  }
  // Its own words are about the protocol; ours are about the program.
  const advice = error?.code === 'AUTH_REQUIRED' ? agent?.reason : undefined;
  return (
    <ErrorNote title={title} Icon={KeyRound} advice={advice} {...message}>
      {children}
    </ErrorNote>
  );
}

const titles: Record<string, (name: string) => string> = {
  AUTH_REQUIRED: (name) => `${name} is not signed in`,
  AUTHENTICATION_FAILED: (name) => `${name} could not sign in`,
};
