import { describeError } from '@liminal/client';
import { useClient, useSessions } from '@liminal/client/react';
import { continueMessage, type SessionSummary } from '@liminal/protocol';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../look/controls.tsx';
import { Advice } from '../look/Advice.tsx';
import { Fold } from '../look/Fold.tsx';
import { shortPath } from '../words/paths.ts';
import { AgentMark } from './AgentMark.tsx';
import { useAgents } from './agents.tsx';
import css from './Home.module.css';
import { SessionLink } from './SessionLink.tsx';
import { SessionMark } from './SessionMark.tsx';

/** The number of recent sessions that the start page lists. */
const recentCount = 6;

/** The page that is shown when no session is: it offers to start a session, or to continue one. */
export function Home({ onNew }: { onNew: () => void }) {
  const { projects } = useSessions();
  const all = projects.flatMap((project) => project.sessions);
  const recent = all
    .filter((session) => !session.archived || session.state === 'waiting')
    .toSorted(byUrgency)
    .slice(0, recentCount);
  return (
    <main className={css.home} aria-label="Start">
      <div className={css.column}>
        <h1>What do you want to build?</h1>
        <p className={css.lead}>
          Each session is one agent working in one folder. Nothing is lost if you close the page.
        </p>
        <Button look="primary" onClick={onNew}>
          <Plus size={16} aria-hidden="true" />
          New session
        </Button>
        <Interrupted sessions={all} />
        {recent.length > 0 && (
          <section aria-label="Recent sessions">
            <h2>Recent</h2>
            <ul className={css.recent}>
              {recent.map((session) => (
                <li key={session.sessionId}>
                  <SessionLink sessionId={session.sessionId} className={css.link}>
                    <SessionMark session={session} />
                    <span className={css.title}>{session.title}</span>
                    <AgentMark cliType={session.cliType} />
                    <span className={css.folder}>{shortPath(session.projectDir)}</span>
                  </SessionLink>
                </li>
              ))}
            </ul>
          </section>
        )}
        <MissingAgents />
      </div>
    </main>
  );
}

/** Offers to resume all agents that were interrupted when the server stopped. */
function Interrupted({ sessions }: { sessions: readonly SessionSummary[] }) {
  const { requests } = useClient();
  const [problem, setProblem] = useState<string>();
  const [isSending, setSending] = useState(false);
  const interrupted = sessions.filter(
    ({ interrupted: is, archived }) => is === true && archived !== true,
  );
  if (interrupted.length === 0 && problem === undefined) return null;
  const { length } = interrupted;
  const resume = async () => {
    setSending(true);
    setProblem(undefined);
    const sent = await Promise.allSettled(
      interrupted.map(async ({ sessionId }) => requests.send(sessionId, continueMessage)),
    );
    const failed = sent.find((one) => one.status === 'rejected');
    if (failed !== undefined) setProblem(describeError(failed.reason).message);
    setSending(false);
  };
  return (
    <section aria-label="Interrupted sessions" className={css.interrupted}>
      {length > 0 && (
        <>
          <span>{length === 1 ? '1 session was' : `${length} sessions were`} interrupted</span>
          <Button disabled={isSending} onClick={() => void resume()}>
            {length === 1 ? 'Continue' : 'Continue all'}
          </Button>
        </>
      )}
      {problem !== undefined && <p role="alert">{problem}</p>}
    </section>
  );
}

/** Compares two sessions: sessions that wait for a person come first, then the newest. */
function byUrgency(a: SessionSummary, b: SessionSummary): number {
  const urgent = Number(b.state === 'waiting') - Number(a.state === 'waiting');
  return urgent === 0 ? b.updatedAt.localeCompare(a.updatedAt) : urgent;
}

/** Lists the agents that cannot run because a program or a setting is missing, with instructions. */
function MissingAgents() {
  const { agents, problem } = useAgents();
  const missing = agents?.filter((agent) => agent.reason !== undefined) ?? [];
  if (problem !== undefined) return <p className={css.problem}>{problem}</p>;
  if (missing.length === 0) return null;
  return (
    <Fold
      className={css.notSetUp}
      summary={`Not set up: ${missing.map(({ name }) => name).join(', ')}`}
    >
      <ul className={css.missing}>
        {missing.map((agent) => (
          <li key={agent.cliType}>
            <AgentMark cliType={agent.cliType} isNamed />
            <div>
              <strong>{agent.name}</strong>
              <Advice text={agent.reason ?? ''} />
            </div>
          </li>
        ))}
      </ul>
    </Fold>
  );
}
