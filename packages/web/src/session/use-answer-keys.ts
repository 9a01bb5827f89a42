import type { ApprovalUpsert } from '@liminal/protocol';
import { useEffect, useRef } from 'react';
import { isTyping } from '../app/typing.ts';
import { asksSomething, keyAnswers } from '../transcript/answering.ts';

interface AnswerKeys {
  /** The docked request. */
  approval: ApprovalUpsert | undefined;
  /** Returns whether the request has been visible long enough that a key may answer it. */
  isSeen: () => boolean;
  /** Returns whether the whole request has been shown long enough that a key may allow it. */
  isRead: () => boolean;
  running: boolean;
  /**
   * Whether the composer contains a draft. The draft may be a note about the request, so Escape then does not reject
   * the request.
   */
  isWriting: boolean;
  /** Sends an answer; rejects if sending it failed. */
  answer: (approvalId: string, optionId: string) => Promise<void>;
  stop: () => void;
}

/** A key that is pressed within this time (ms) after a request disappeared was meant for that request. */
const tooSoon = 400;

/**
 * Lets Enter and Escape answer the docked request. If the request has a form, Enter focuses the form. While the
 * composer contains a draft, Escape does nothing. Without a request, Escape stops the turn.
 */
export function useAnswerKeys(keys: AnswerKeys): void {
  const { approval, isSeen, isRead, running, isWriting, answer, stop } = keys;
  const isAsked = approval !== undefined;
  const changed = useRef({ isAsked: false, at: 0 });
  /**
   * The id of the request that was answered on this page. The request stays docked until the server confirms the
   * answer.
   */
  const answered = useRef<string>(undefined);
  useEffect(() => {
    if (isAsked !== changed.current.isAsked) changed.current = { isAsked, at: Date.now() };
  }, [isAsked]);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.repeat || event.defaultPrevented || hasModifier(event)) return;
      if (!isOurs(event)) return;
      if (approval === undefined) {
        const isMeant = Date.now() - changed.current.at >= tooSoon;
        if (event.key === 'Escape' && running && isMeant) stop();
        return;
      }
      if (event.key === 'Escape' && isWriting) return;
      const { allow, deny } = keyAnswers(approval);
      const chosen = { Enter: allow, Escape: deny }[event.key];
      if (chosen === undefined || !isSeen()) return;
      event.preventDefault();
      const { approvalId } = approval;
      if (chosen === allow && asksSomething(approval)) return focusForm(approvalId, isRead());
      if (chosen === allow && !isRead()) return;
      if (answered.current === approvalId) return;
      answered.current = approvalId;
      answer(approvalId, chosen.optionId).catch(() => {
        answered.current = undefined;
      });
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [approval, isSeen, isRead, running, isWriting, answer, stop]);
}

/**
 * Focuses a form that must be filled in. If the person has not seen a part of the request yet, the page does not scroll
 * past that part to the form.
 */
function focusForm(approvalId: string, isRead: boolean): void {
  const form = document.querySelector(`[data-approval-id="${CSS.escape(approvalId)}"]`);
  const field = form?.querySelector<HTMLElement>('input, select, textarea');
  field?.focus({ preventScroll: !isRead });
}

function hasModifier(event: KeyboardEvent): boolean {
  return event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
}

/**
 * Whether the key may answer the request: outside of dialogs, lists and menus; not on a button that Enter presses; and
 * in text fields only in the empty composer.
 */
function isOurs(event: KeyboardEvent): boolean {
  const { target } = event;
  if (!(target instanceof HTMLElement)) return true;
  if (target.closest('dialog, [role="listbox"], [role="menu"]') !== null) return false;
  if (target instanceof HTMLTextAreaElement && target.dataset.composer !== undefined) {
    return target.value.trim() === '' || event.key === 'Escape';
  }
  if (event.key === 'Enter' && target.closest('button, a, summary') !== null) return false;
  return !isTyping(target);
}
