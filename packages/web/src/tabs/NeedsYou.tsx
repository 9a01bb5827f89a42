import { useSessions } from '@liminal/client/react';
import type { SessionSummary } from '@liminal/protocol';
import { useNavigation } from '../app/navigation.tsx';
import { Button } from '../look/controls.tsx';
import { StateMark } from '../look/StateMark.tsx';
import { needingYou } from '../sidebar/session-groups.ts';
import css from './NeedsYou.module.css';
import { labelOf } from '../words/label.ts';

/** Returns the other sessions that wait for a person. The session that has waited longest comes first. */
export function useOthersWaiting(): SessionSummary[] {
  const { projects } = useSessions();
  const { active } = useNavigation();
  return needingYou(projects).filter((session) => session.sessionId !== active);
}

/** Shows that other sessions wait for a person, with a link to the session that has waited longest. */
export function NeedsYou({ isShort }: { isShort: boolean }) {
  const { show } = useNavigation();
  const others = useOthersWaiting();
  const [first] = others;
  if (first === undefined) return null;
  const { length: count } = others;
  const words = `${count} need${count > 1 ? '' : 's'} you`;
  return (
    <Button
      className={css.button}
      data-short={isShort}
      aria-label={`${words}: ${labelOf(first.title)}`}
      title={others.map(({ title }) => labelOf(title)).join('\n')}
      onClick={() => show(first.sessionId)}
    >
      <StateMark state="waiting" />
      {isShort ? count : words}
    </Button>
  );
}
