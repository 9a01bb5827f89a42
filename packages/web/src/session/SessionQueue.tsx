import { useClient } from '@liminal/client/react';
import type { SessionInfo } from '@liminal/protocol';
import { QueueList } from '../composer/QueueList.tsx';
import type { Mentioned } from '../mentions/use-mentioned.ts';

interface SessionQueueProps extends Pick<Mentioned, 'blocksOfEdited'> {
  sessionId: string;
  info: SessionInfo | undefined;
  /** Whether the agent accepts messages during a turn. */
  canSteer: boolean;
  /** Runs a request, and shows the reason if the request fails. */
  attempt: (doing: Promise<unknown>) => Promise<void>;
}

/** Shows the queued messages of a session, with the actions on each message. */
export function SessionQueue(props: SessionQueueProps) {
  const { sessionId, info, canSteer, blocksOfEdited, attempt } = props;
  const queue = info?.queue ?? [];
  const { requests } = useClient();
  return (
    <QueueList
      queue={queue}
      onEdit={(turnId, message) => {
        const before = queue.find((one) => one.turnId === turnId);
        const beside = blocksOfEdited(message, before);
        void attempt(
          requests.editQueued(sessionId, turnId, message, { ...beside, runCommand: true }),
        );
      }}
      onRemove={(turnId) => void attempt(requests.removeQueued(sessionId, turnId))}
      onMove={(turnId, before) => void attempt(requests.moveQueued(sessionId, turnId, before))}
      onNow={(turnId) => void attempt(requests.sendQueuedNow(sessionId, turnId))}
      canSteer={canSteer}
      isPaused={info?.session.queuePaused === true}
      onResume={() => void attempt(requests.resumeQueue(sessionId))}
    />
  );
}
