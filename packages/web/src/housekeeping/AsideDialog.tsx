import { describeError } from '@liminal/client';
import { useClient } from '@liminal/client/react';
import type { SessionSummary } from '@liminal/protocol';
import { useEffect, useState } from 'react';
import { Button } from '../look/controls.tsx';
import { Dialog } from '../look/Dialog.tsx';
import form from '../look/form.module.css';
import { FormProblem } from '../look/FormProblem.tsx';
import { ShownText } from '../look/ShownText.tsx';
import css from './AsideDialog.module.css';

interface AsideDialogProps {
  session: SessionSummary;
  /** The question to send at once; empty if the person must type it first. */
  question: string;
  onClose: () => void;
}

/** Each session's last question and answer. They are kept until the page is closed. */
const lastAnswers = new Map<string, { question: string; answer: string }>();

/** Asks the model of a session a question. Neither the question nor the answer becomes part of the conversation. */
export default function AsideDialog({ session, question, onClose }: AsideDialogProps) {
  const { requests } = useClient();
  const { sessionId } = session;
  const [last] = useState(question === '' ? lastAnswers.get(sessionId) : undefined);
  const [typed, setTyped] = useState(last?.question ?? question);
  /** The question that is being asked. */
  const [asked, setAsked] = useState(question === '' ? undefined : { question });
  const [answer, setAnswer] = useState(last?.answer);
  const [problem, setProblem] = useState<string>();

  useEffect(() => {
    if (asked === undefined) return undefined;
    let isShown = true;
    requests
      .aside(sessionId, asked.question)
      .then(
        (found) => {
          // Keep the answer even if the dialog was closed in the meantime, because the answer is stored nowhere else.
          lastAnswers.set(sessionId, { question: asked.question, answer: found.answer });
          if (isShown) setAnswer(found.answer);
        },
        (error: unknown) => isShown && setProblem(describeError(error).message),
      )
      .finally(() => isShown && setAsked(undefined));
    return () => void (isShown = false);
  }, [asked, requests, sessionId]);

  return (
    <Dialog title="Beside the conversation" onClose={onClose}>
      <form
        className={form.form}
        onSubmit={(event) => {
          event.preventDefault();
          setAnswer(undefined);
          setProblem(undefined);
          setAsked({ question: typed.trim() });
        }}
      >
        <div className={form.field}>
          <label className={form.label} htmlFor="aside-question">
            Question
          </label>
          <input
            id="aside-question"
            data-autofocus
            className={form.input}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            autoComplete="off"
          />
        </div>
        {asked !== undefined && <p role="status">Asking…</p>}
        {answer !== undefined && (
          <section aria-label="Answer">
            <p className={css.answer}>
              <ShownText text={answer} />
            </p>
          </section>
        )}
        <FormProblem text={problem} />
        <div className={form.actions}>
          <Button type="submit" disabled={typed.trim() === '' || asked !== undefined}>
            Ask
          </Button>
          <Button onClick={onClose}>Done</Button>
        </div>
      </form>
    </Dialog>
  );
}
