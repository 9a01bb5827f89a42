import type { SessionStore, SessionView } from '@liminal/client';
import { describeError } from '@liminal/client';
import { useClient, useSession } from '@liminal/client/react';
import {
  type ApprovalAnswer,
  type ContentBlock,
  type SessionInfo,
  type SessionSummary,
  linkedMentions,
} from '@liminal/protocol';
import {
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { flushSync } from 'react-dom';
import { useAgent, useAgentName, useForksOnceAnswered } from '../app/agents.tsx';
import { useNavigation } from '../app/navigation.tsx';
import { useFork } from '../app/use-fork.ts';
import { DropTarget } from '../attachments/DropTarget.tsx';
import { useAttachments } from '../attachments/use-attachments.ts';
import { Composer } from '../composer/Composer.tsx';
import { UsageLimits } from '../composer/UsageLimits.tsx';
import { focusComposer, useFocusWhenReady } from '../composer/focus-composer.ts';
import { FilesBeside } from '../files/FilesBeside.tsx';
import { ArchivedNote } from '../housekeeping/ArchivedNote.tsx';
import { useHousekeeping } from '../housekeeping/housekeeping.tsx';
import { UnlessImported } from '../housekeeping/UnlessImported.tsx';
import { useDraft } from '../storage/drafts.ts';
import { useMentioned } from '../mentions/use-mentioned.ts';
import spoken from '../look/spoken.module.css';
import { ActivityProvider } from '../transcript/activity.ts';
import { ReadOnlyProvider } from '../transcript/read-only.ts';
import { SessionActionsProvider } from '../transcript/session-actions.ts';
import { dockId } from '../transcript/ApprovalActions.tsx';
import { Transcript } from '../transcript/Transcript.tsx';
import { AgentNotice } from './AgentNotice.tsx';
import { BackgroundTasks } from './BackgroundTasks.tsx';
import { Find } from './FindBar.tsx';
import { lastTakeable } from '../transcript/taken-back.tsx';
import { useEarlierMessages } from '../composer/use-earlier-messages.ts';
import { RequestDock } from './RequestDock.tsx';
import { RevealedItem } from './RevealedItem.tsx';
import { useRewindDialog } from './RewindDialog.tsx';
import { SessionIntro } from './SessionIntro.tsx';
import { SessionNotices } from './SessionNotices.tsx';
import { SessionQueue } from './SessionQueue.tsx';
import { SessionFailed, SessionLoading } from './SessionStates.tsx';
import css from './SessionPage.module.css';
import { usePageCommands } from './use-page-commands.ts';
import { usePrewarm } from './use-prewarm.ts';
import { labelOf } from '../words/label.ts';

/** The page of one session: its conversation and its composer. */
export default function SessionPage({ sessionId }: { sessionId: string }) {
  const { view, session } = useSession(sessionId);
  const { close, keep } = useNavigation();
  const { deleted } = useHousekeeping();
  const title = view.info?.session.title ?? 'Session';
  useFocusWhenReady(view.phase === 'ready');
  const isDeleted = view.phase === 'deleted';
  useEffect(() => {
    if (isDeleted) deleted(sessionId);
  }, [deleted, isDeleted, sessionId]);
  const sends = view.pending.length > 0;
  useEffect(() => {
    if (sends) keep(sessionId);
  }, [keep, sends, sessionId]);
  return (
    <main
      className={css.page}
      aria-label={labelOf(title)}
      data-session-id={sessionId}
      tabIndex={-1}
      // When a person writes, the tab of a previewed session is kept. The call is delayed: if a select is rendered
      // again between its `input` and its `change` event, it loses the choice.
      onInput={() => setTimeout(keep, 0, sessionId)}
    >
      <h1 className={spoken.only}>{title}</h1>
      {view.phase === 'loading' && <SessionLoading />}
      {view.phase === 'failed' && (
        <SessionFailed
          problem={view.problem}
          onRetry={() => void session.retry()}
          onClose={() => close(sessionId)}
        />
      )}
      {view.phase === 'ready' && (
        <ReadOnlyProvider value={view.info?.session.importedFrom !== undefined}>
          <Find view={view} session={session} />
          <OpenSession view={view} session={session} />
        </ReadOnlyProvider>
      )}
    </main>
  );
}

function OpenSession({ view, session }: { view: SessionView; session: SessionStore }) {
  const { sessionId, info } = view;
  const { requests } = useClient();
  const [draft, setDraft] = useDraft(sessionId);
  const prewarm = usePrewarm(session, info);
  const folder = info?.session.projectDir;
  const { add: addMention, blocksOf, blocksOfEdited } = useMentioned(sessionId, folder);
  const [problem, attempt] = useAttempt();
  const cliType = info?.session.cliType;
  const recipient = useRecipient(info);
  const attachments = useAttachments(sessionId, recipient, prewarm);
  const running = view.turns.at(-1)?.status === 'in_progress';
  const canSteer = running && info?.canSteer === true;

  const { answer, answerByKey, stop, setConfig } = useSessionRequests(sessionId, attempt);
  const fork = useFork();
  const { shown, choose, show } = useShownRequest();
  const takeBack = useTakeBack(draft, setDraft, attachments.put, folder);
  const about = { sessionId, cliType, folder, onTakenBack: takeBack };
  const [rewindDialog, askRewind] = useRewindDialog(about);
  const actions = useMemo(
    () => ({
      cliType,
      answer,
      show,
      fork: (turnId: string) => attempt(fork(sessionId, turnId)),
      askRewind,
      send: (message: string, blocks: readonly ContentBlock[] = []) =>
        void session.send(message, { blocks: blocksOf(message, blocks) }),
      steer: (message: string, blocks: readonly ContentBlock[]) =>
        void session.steer(message, { blocks: blocksOf(message, blocks) }),
      takeBack,
    }),
    [answer, askRewind, attempt, blocksOf, cliType, fork, session, sessionId, show, takeBack],
  );
  const steer = (message: string) => actions.steer(message, attachments.take());
  const page = usePageCommands({ view, attempt, askRewind, send: actions.send });
  const recall = useEarlierMessages(view, draft, setDraft, takeBack);
  const rewindsConversation = useAgent(cliType)?.rewindsConversation === true;
  const intro = useIntro(info?.session, view.turns.length === 0);

  return (
    <SessionActionsProvider value={actions}>
      <RevealedItem view={view} session={session} />
      <FilesBeside view={view}>
        <ActivityProvider value={info?.activity}>
          <Transcript view={view} session={session} intro={intro} />
        </ActivityProvider>
        <DropTarget onFiles={attachments.add} />
        <div className={css.dock}>
          <PageProblem text={problem} />
          <ArchivedNote session={info?.session} />
          <SessionNotices sessionId={sessionId} cliType={cliType} notices={info?.notices} />
          <AgentNotice cliType={cliType} turns={view.turns} />
          <BackgroundTasks
            tasks={info?.tasks}
            onStop={(taskId) => void attempt(requests.stopTask(sessionId, taskId))}
          />
          <SessionQueue
            sessionId={sessionId}
            info={info}
            canSteer={canSteer}
            blocksOfEdited={blocksOfEdited}
            attempt={attempt}
          />
          <RequestDock
            turns={view.turns}
            folder={folder}
            running={running}
            chosen={shown}
            onChoose={choose}
            draft={draft}
            onDraft={setDraft}
            answer={answerByKey}
            stop={stop}
          />
          <UnlessImported session={info?.session}>
            <Composer
              draft={draft}
              onDraft={(text) => {
                setDraft(text);
                if (text !== '') prewarm();
              }}
              attachments={attachments}
              sessionId={sessionId}
              onSend={(message) => page.run(message) || actions.send(message, attachments.take())}
              onSteer={canSteer ? steer : undefined}
              onStop={stop}
              onMention={addMention}
              onConfig={setConfig}
              info={page.offered}
              agentName={recipient.name}
              onRecall={recall}
              onTakeBack={() => {
                const turnId = lastTakeable(view.turns);
                if (rewindsConversation && turnId !== undefined) askRewind(turnId, 'conversation');
              }}
              running={running}
            />
          </UnlessImported>
          <UsageLimits limits={info?.limits} />
        </div>
        {rewindDialog}
      </FilesBeside>
    </SessionActionsProvider>
  );
}

/** Returns the requests about the session. If a request fails, the page shows why. */
function useSessionRequests(sessionId: string, attempt: Attempt) {
  const { requests } = useClient();
  const answer = useCallback(
    (approvalId: string, given: ApprovalAnswer) =>
      requests.answerApproval(sessionId, approvalId, given),
    [requests, sessionId],
  );
  const answerByKey = useCallback(
    (approvalId: string, optionId: string) => {
      const answering = answer(approvalId, { optionId });
      void attempt(answering);
      return answering;
    },
    [answer, attempt],
  );
  const stop = useCallback(
    () => void attempt(requests.cancel(sessionId)),
    [attempt, requests, sessionId],
  );
  const setConfig = useCallback(
    (id: string, value: string) => attempt(requests.setConfig(sessionId, id, value)),
    [attempt, requests, sessionId],
  );
  return { answer, answerByKey, stop, setConfig };
}

function useIntro(session: SessionSummary | undefined, isEmpty: boolean): ReactNode {
  return useMemo(() => <SessionIntro session={session} isEmpty={isEmpty} />, [session, isEmpty]);
}

/** Returns a function that puts a message in front of the draft. */
function useTakeBack(
  draft: string,
  setDraft: (text: string) => void,
  put: (blocks: ContentBlock[]) => void,
  folder: string | undefined,
): (message: string, blocks?: readonly ContentBlock[]) => void {
  const latest = useRef(draft);
  useLayoutEffect(() => {
    latest.current = draft;
  });
  return useCallback(
    (message, blocks = []) => {
      setDraft([message, latest.current].filter((text) => text.trim() !== '').join('\n\n'));
      // Links to mentioned files are left out, because the text already mentions the files.
      put(linkedMentions(message, blocks, folder).others);
      focusComposer();
    },
    [folder, put, setDraft],
  );
}

function PageProblem({ text }: { text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p className={css.problem} role="alert">
      {text}
    </p>
  );
}

/** Returns the id of the waiting request that is shown, and a function that shows another waiting request. */
function useShownRequest() {
  const [shown, choose] = useState<string>();
  const show = useCallback((approvalId: string) => {
    flushSync(() => choose(approvalId));
    document
      .querySelector<HTMLElement>(`main:not([style*="none"]) #${dockId} [role="group"]`)
      ?.focus();
  }, []);
  return { shown, choose, show };
}

type Attempt = (doing: Promise<unknown>) => Promise<void>;

/**
 * Returns the error of the last request, and a function that runs a request. The error is kept until the next request.
 */
function useAttempt(): [string | undefined, Attempt] {
  const [problem, setProblem] = useState<string>();
  const attempt = useCallback(async (doing: Promise<unknown>) => {
    setProblem(undefined);
    try {
      await doing;
    } catch (error) {
      setProblem(describeError(error).message);
    }
  }, []);
  return [problem, attempt];
}

/** Returns the agent that receives messages, with the content types that it accepts. */
function useRecipient(info: SessionInfo | undefined) {
  const cliType = info?.session.cliType;
  useForksOnceAnswered(cliType, info?.accepts !== undefined && info.lastKnown !== true);
  return { name: useAgentName(cliType), accepts: info?.accepts };
}
