import form from './form.module.css';

/** Shows why the request of a form or dialog failed. Shows nothing if there is no text. */
export function FormProblem({ text }: { text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p className={form.problem} role="alert">
      {text}
    </p>
  );
}
