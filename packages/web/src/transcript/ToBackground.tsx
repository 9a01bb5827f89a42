import { describeError } from '@liminal/client';
import { useClient } from '@liminal/client/react';
import type { ToolCallUpsert } from '@liminal/protocol';
import { useState } from 'react';
import { useAgent } from '../app/agents.tsx';
import { Button } from '../look/controls.tsx';
import { useReadOnly } from './read-only.ts';
import { useSessionActions } from './session-actions.ts';
import { isSubagent } from './tool-words.ts';

/**
 * A button that sends a running command or subagent to the background. Renders nothing if the agent cannot do that for
 * this call.
 */
export function ToBackground({ call }: { call: ToolCallUpsert }) {
  const { requests } = useClient();
  const agent = useAgent(useSessionActions().cliType);
  const isReadOnly = useReadOnly();
  const [problem, setProblem] = useState<string>();
  const canMove = call.kind === 'execute' || isSubagent(call);
  if (isReadOnly || agent?.backgrounds !== true || !canMove) return null;
  const send = (): void => {
    setProblem(undefined);
    requests
      .background(call.sessionId, { callId: call.callId })
      .catch((error: unknown) => setProblem(describeError(error).message));
  };
  return (
    <>
      <Button
        look="quiet"
        title="Run it in the background: the agent’s turn continues"
        onClick={send}
      >
        To background
      </Button>
      {problem !== undefined && <span role="alert">{problem}</span>}
    </>
  );
}
