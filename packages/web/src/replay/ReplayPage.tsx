import { describeError } from '@liminal/client';
import { useClient } from '@liminal/client/react';
import { useEffect, useMemo, useState } from 'react';
import states from '../session/SessionStates.module.css';
import { ClockProvider } from '../transcript/clock.ts';
import { ReadOnlyProvider } from '../transcript/read-only.ts';
import { type SessionActions, SessionActionsProvider } from '../transcript/session-actions.ts';
import { Transcript } from '../transcript/Transcript.tsx';
import { Controls } from './Controls.tsx';
import { Player, type Recording, readRecording } from './recording.ts';
import css from './ReplayPage.module.css';
import { usePlayback } from './use-playback.ts';
import { Waterfall } from './Waterfall.tsx';
import { labelOf } from '../words/label.ts';

/** The page that plays a session from the session's file. */
export default function ReplayPage({ sessionId }: { sessionId: string }) {
  const { requests } = useClient();
  const [recording, setRecording] = useState<Recording>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const leaving = new AbortController();
    requests
      .exportSession(sessionId, { signal: leaving.signal })
      .then(async (file) => readRecording(decodeText(file)))
      .then(setRecording)
      .catch((error: unknown) => {
        if (!leaving.signal.aborted) setProblem(describeError(error).message);
      });
    return () => leaving.abort();
  }, [requests, sessionId]);
  if (problem !== undefined) {
    return (
      <main className={states.failed} role="alert">
        <h1>This session cannot be played</h1>
        <p>{problem}</p>
      </main>
    );
  }
  if (recording === undefined) {
    return (
      <main className={css.loading} role="status">
        Reading the file…
      </main>
    );
  }
  return <Replay recording={recording} />;
}

async function* decodeText(file: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  const reader = file.getReader();
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    yield decoder.decode(step.value, { stream: true });
  }
  yield decoder.decode();
}

function Replay({ recording }: { recording: Recording }) {
  const { session, steps, runs } = recording;
  const player = usePlayer(recording);
  const playback = usePlayback(steps);
  const { count } = playback;
  const view = useMemo(() => player.viewAfter(count), [count, player]);
  const current = steps[Math.max(0, count - 1)];
  const { cliType, title } = session;
  useEffect(() => {
    document.title = `Replay of ${labelOf(title)}`;
  }, [title]);
  const actions = useMemo(() => nothingToDo(cliType), [cliType]);
  const intro = useMemo(() => <Intro recording={recording} />, [recording]);
  return (
    <main className={css.page} aria-label={`Replay of ${labelOf(title)}`}>
      <header className={css.head}>
        <h1>{title}</h1>
        <span className={css.mark}>Replay</span>
      </header>
      <div className={css.middle}>
        <section className={css.conversation} aria-label="Conversation at this moment">
          <SessionActionsProvider value={actions}>
            <ReadOnlyProvider value>
              <ClockProvider value={current?.at}>
                <Transcript view={view} intro={intro} />
              </ClockProvider>
            </ReadOnlyProvider>
          </SessionActionsProvider>
        </section>
        {current !== undefined && <Waterfall runs={runs} index={current.run} playback={playback} />}
      </div>
      <Controls recording={recording} playback={playback} />
    </main>
  );
}

/** The longest time that one slice of folding takes, in ms: half a frame, so that the page stays responsive. */
const slice = 8;

/** Returns a player that folds the whole recording in slices while the page is shown. */
function usePlayer(recording: Recording): Player {
  const player = useMemo(() => new Player(recording), [recording]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const prepareMore = () => {
      timer = player.prepare(slice) ? setTimeout(prepareMore) : undefined;
    };
    prepareMore();
    return () => clearTimeout(timer);
  }, [player]);
  return player;
}

function Intro({ recording: { header, session, runs } }: { recording: Recording }) {
  const rebuilt = runs.filter(({ isRebuilt }) => isRebuilt).length;
  const all = rebuilt === runs.length;
  return (
    <header className={states.intro}>
      <h2>{session.title}</h2>
      <p>
        {session.cliType} in <code>{session.projectDir}</code>, exported{' '}
        <time dateTime={header.exportedAt}>{new Date(header.exportedAt).toLocaleString()}</time> by
        Liminal {header.versions.liminal}
        {header.versions.agent !== undefined && `, agent ${header.versions.agent}`}
      </p>
      {rebuilt > 0 && (
        <p className={css.rebuilt}>
          {all
            ? 'This was'
            : `${rebuilt} of ${runs.length} turns ${rebuilt === 1 ? 'was' : 'were'}`}{' '}
          rebuilt from history: times are exact, streaming is not.
        </p>
      )}
    </header>
  );
}

/** Returns session actions that do nothing, since a recording cannot be changed. */
function nothingToDo(cliType: string): SessionActions {
  const nothing = () => undefined;
  const later = async () => undefined;
  return {
    cliType,
    answer: later,
    show: nothing,
    send: nothing,
    fork: later,
    askRewind: nothing,
    takeBack: nothing,
  };
}
