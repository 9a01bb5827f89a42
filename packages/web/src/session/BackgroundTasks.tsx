import { headOf } from '@liminal/protocol';
import type { BackgroundTask } from '@liminal/protocol';
import { Bot, SquareTerminal } from 'lucide-react';
import { FileLink } from '../files/FileLink.tsx';
import { Button } from '../look/controls.tsx';
import { plainText } from '../terminal/plain-text.ts';
import { Elapsed } from '../transcript/Elapsed.tsx';
import css from './BackgroundTasks.module.css';
import { labelOf } from '../words/label.ts';
import { mostInLine } from '../look/text-pieces.ts';

interface BackgroundTasksProps {
  tasks: readonly BackgroundTask[] | undefined;
  onStop: (taskId: string) => void;
}

/** Lists the agent's background tasks that are running. */
export function BackgroundTasks({ tasks = [], onStop }: BackgroundTasksProps) {
  if (tasks.length === 0) return null;
  return (
    <ul className={css.tasks} aria-label="In the background">
      {tasks.map(({ taskId, kind, title, startedAt, progress, outputFile }) => (
        <li key={taskId} className={css.task} data-task-id={taskId}>
          {kind === 'agent' ? (
            <Bot size={14} aria-hidden="true" />
          ) : (
            <SquareTerminal size={14} aria-hidden="true" />
          )}
          <span className={css.title} title={labelOf(title)}>
            {headOf(title, mostInLine)}
          </span>
          {progress !== undefined && (
            <span className={css.progress} title={labelOf(plainText(progress))}>
              {plainText(headOf(progress, mostInLine))}
            </span>
          )}
          <span className={css.time}>
            <Elapsed since={startedAt} />
          </span>
          {outputFile !== undefined && <FileLink target={{ path: outputFile }}>Output</FileLink>}
          <Button look="quiet" aria-label={`Stop ${labelOf(title)}`} onClick={() => onStop(taskId)}>
            Stop
          </Button>
        </li>
      ))}
    </ul>
  );
}
