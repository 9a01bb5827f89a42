import type { ToolCallUpsert } from '@liminal/protocol';
import { useAgent } from '../app/agents.tsx';
import { Button } from '../look/controls.tsx';
import { useReadOnly } from './read-only.ts';
import { useSessionActions } from './session-actions.ts';
import { isSubagent } from './tool-words.ts';

/** Lets a running command or subagent go on in the background, where the agent can do that. */
export function ToBackground({ call }: { call: ToolCallUpsert }) {
  const { cliType, background } = useSessionActions();
  const agent = useAgent(cliType);
  const isReadOnly = useReadOnly();
  const { callId } = call;
  const canMove = call.kind === 'execute' || isSubagent(call);
  if (isReadOnly || agent?.backgrounds !== true || !canMove) return null;
  return (
    <Button
      look="quiet"
      title="Run it in the background: the agent’s turn continues"
      onClick={() => background(callId)}
    >
      To background
    </Button>
  );
}
