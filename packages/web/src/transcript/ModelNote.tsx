import { Fold } from './Fold.tsx';
import { LongText } from './LongText.tsx';
import css from './Thinking.module.css';

interface ModelNoteProps {
  title: string;
  text: string;
}

/** Shows, as a detail, a text that the agent wrote for its model. */
export function ModelNote({ title, text }: ModelNoteProps) {
  return (
    <div className={css.thinking}>
      <Fold title={title} name="told">
        <LongText className={css.content} text={text} label="Told to the model" />
      </Fold>
    </div>
  );
}
