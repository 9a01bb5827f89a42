import { headOf } from '@liminal/protocol';
import type { TurnView } from '@liminal/client';
import type { ApprovalUpsert } from '@liminal/protocol';
import {
  ChevronLeft,
  ChevronRight,
  MessageCircleQuestionMark,
  ShieldQuestionMark,
} from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import {
  approvalParts,
  oneLine,
  question,
  requestTitle,
} from '../approval-parts/approval-parts.ts';
import { useGiveFocusBack } from '../composer/focus-composer.ts';
import { IconButton } from '../look/controls.tsx';
import { ShownText } from '../look/ShownText.tsx';
import spoken from '../look/spoken.module.css';
import { ApprovalActions, dockId } from '../transcript/ApprovalActions.tsx';
import { asksSomething, outcomeWords } from '../transcript/answering.ts';
import { useSessionActions } from '../transcript/session-actions.ts';
import { useAgentName } from '../app/agents.tsx';
import css from './RequestDock.module.css';
import { useAnswerKeys } from './use-answer-keys.ts';
import { useSeen } from './use-seen.ts';
import { useReadProgress } from './use-read-progress.ts';
import { findApproval, type WaitingRequest, waitingRequests } from './waiting.ts';
import { labelOf } from '../words/label.ts';
import { mostInLine } from '../look/text-pieces.ts';

interface RequestDockProps {
  turns: readonly TurnView[];
  folder: string | undefined;
  running: boolean;
  /** The id of the request that a person has chosen; undefined if the oldest request is shown. */
  chosen: string | undefined;
  onChoose: (approvalId: string) => void;
  draft: string;
  onDraft: (text: string) => void;
  /** Sends the answer that a key selects. */
  answer: (approvalId: string, optionId: string) => Promise<void>;
  stop: () => void;
}

/**
 * Shows the waiting requests above the composer, where they are always visible: one request at a time, the oldest
 * first. Keys answer only the request that is shown.
 */
export function RequestDock(props: RequestDockProps) {
  const { turns, folder, running, chosen, onChoose, draft, onDraft, answer, stop } = props;
  const requests = waitingRequests(turns);
  const index = Math.max(
    0,
    requests.findIndex(({ approval }) => approval.approvalId === chosen),
  );
  const request = requests[index];
  const approval = request?.approval;
  const dock = useRef<HTMLElement>(null);
  const isSeen = useSeen(dock, approval?.approvalId);
  const progress = useReadProgress(approval?.approvalId);
  const { word, answeredHere } = useAnswerFromElsewhere(turns, approval);
  const [sentByKey, setSentByKey] = useState<string>();
  useAnswerKeys({
    approval,
    isSeen,
    isRead: progress.isRead,
    running,
    isWriting: draft.trim() !== '',
    answer: (approvalId, optionId) => {
      answeredHere(approvalId);
      setSentByKey(approvalId);
      const answering = answer(approvalId, optionId);
      answering.catch(() => setSentByKey(undefined));
      return answering;
    },
    stop,
  });

  return (
    <>
      {word !== undefined && (
        <p className={css.word} role="status">
          {word}
        </p>
      )}
      {request !== undefined && (
        <section ref={dock} id={dockId} className={css.dock} aria-label="Waiting for you">
          <Docked
            request={request}
            folder={folder}
            place={{ index, count: requests.length }}
            onStep={(step) => {
              const next = requests.at((index + step) % requests.length);
              if (next !== undefined) onChoose(next.approval.approvalId);
            }}
            actions={{
              isSeen,
              isSent: sentByKey === request.approval.approvalId,
              progress,
              draft,
              onNoted: () => onDraft(''),
              onAnswered: () => answeredHere(request.approval.approvalId),
            }}
          />
        </section>
      )}
    </>
  );
}

interface DockedProps {
  request: WaitingRequest;
  folder: string | undefined;
  /** The request's index, from 0, and the number of requests that wait. */
  place: { index: number; count: number };
  onStep: (step: 1 | -1) => void;
  actions: Pick<
    Parameters<typeof ApprovalActions>[0],
    'isSeen' | 'isSent' | 'progress' | 'draft' | 'onNoted' | 'onAnswered'
  >;
}

/** Shows one request: the agent that asks, the whole request, and the possible answers. */
function Docked({ request, folder, place, onStep, actions }: DockedProps) {
  const { approval, call } = request;
  const asks = asksSomething(approval);
  const element = useRef<HTMLDivElement>(null);
  useGiveFocusBack(element);
  const Icon = asks ? MessageCircleQuestionMark : ShieldQuestionMark;
  const { cliType } = useSessionActions();
  const agentName = useAgentName(cliType);
  const head = requestTitle(request, folder);
  // A question needs no title, because its text is shown below.
  const title = asks && head === question ? agentName : head;
  const parts = useMemo(() => approvalParts({ approval, call }, folder), [approval, call, folder]);

  return (
    <div
      ref={element}
      role="group"
      tabIndex={-1}
      className={css.request}
      aria-label={`${asks ? 'Question' : 'Permission'}: ${labelOf(approval.title)}`}
      data-item-id={approval.itemId}
      data-status={approval.status}
    >
      <p className={spoken.only} role="status">
        {asks ? 'Question' : 'Permission wanted'}: {labelOf(approval.title)}
      </p>
      <header className={css.head}>
        <Icon size={15} aria-hidden="true" />
        <span className={css.title} data-long={title.length > oneLine}>
          <ShownText text={headOf(title, mostInLine)} />
        </span>
        <span className={css.wants}>{asks ? 'has a question' : 'needs permission'}</span>
        {place.count > 1 && <Steps place={place} onStep={onStep} />}
      </header>
      {/* Because of the key, the form's values and the scroll position are discarded when another request is shown. */}
      <ApprovalActions
        key={approval.approvalId}
        approval={approval}
        parts={parts}
        folder={folder}
        {...actions}
      />
    </div>
  );
}

function Steps({ place, onStep }: Pick<DockedProps, 'place' | 'onStep'>) {
  return (
    <span className={css.steps}>
      <IconButton label="Previous request" onClick={() => onStep(-1)}>
        <ChevronLeft size={15} />
      </IconButton>
      {place.index + 1} of {place.count}
      <IconButton label="Next request" onClick={() => onStep(1)}>
        <ChevronRight size={15} />
      </IconButton>
    </span>
  );
}

/** How long the note is shown that a request was answered elsewhere, in ms. */
const readable = 8_000;

/** Returns the note with the outcome of a request that was answered on another page or by another client. */
function useAnswerFromElsewhere(
  turns: readonly TurnView[],
  docked: ApprovalUpsert | undefined,
): { word: string | undefined; answeredHere: (approvalId: string) => void } {
  const [word, setWord] = useState<string>();
  const last = useRef<string>(undefined);
  const answeredIds = useRef(new Set<string>());
  const [answeredHere] = useState(
    () => (approvalId: string) => void answeredIds.current.add(approvalId),
  );

  useEffect(() => {
    const before = last.current;
    last.current = docked?.approvalId;
    if (before === undefined || before === docked?.approvalId || answeredIds.current.has(before))
      return;
    const approval = findApproval(turns, before);
    if (approval?.outcome !== undefined)
      setWord(`${labelOf(approval.title)}: ${goneWords(approval)}`);
  }, [turns, docked]);
  useEffect(() => {
    if (word === undefined) return undefined;
    const timer = setTimeout(() => setWord(undefined), readable);
    return () => clearTimeout(timer);
  }, [word]);
  return { word, answeredHere };
}

function goneWords(approval: ApprovalUpsert): string {
  const { outcome } = approval;
  if (outcome?.outcome !== 'selected') return outcomeWords(approval);
  return `answered elsewhere with “${outcomeWords(approval)}”`;
}
