import form from './form.module.css';

/** Why the request of a form or a dialog failed; nothing if it did not fail. */
export function FormProblem({ text }: { text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p className={form.problem} role="alert">
      {text}
    </p>
  );
}
