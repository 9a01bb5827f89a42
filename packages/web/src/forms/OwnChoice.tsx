import { useRef } from 'react';
import { joinClasses } from '../look/controls.tsx';
import look from '../look/form.module.css';
import css from './FormFields.module.css';
import { labelOf } from '../words/label.ts';

/** The person's own answer. `text` is kept while another choice is chosen. */
export interface OwnAnswer {
  text: string;
  isChosen: boolean;
}

interface OwnChoiceProps {
  type: 'radio' | 'checkbox';
  name: string;
  /** The question. */
  about: string;
  own: OwnAnswer;
  onAnswer: (own: OwnAnswer) => void;
}

/** A choice whose text the person writes. Writing the text selects the choice. */
export function OwnChoice({ type, name, about, own, onAnswer }: OwnChoiceProps) {
  const field = useRef<HTMLInputElement>(null);
  return (
    <div className={joinClasses(css.choice, css.own)}>
      <input
        type={type}
        name={name}
        aria-label="Something else"
        checked={own.isChosen}
        onChange={(event) => onAnswer({ ...own, isChosen: event.target.checked })}
        onClick={() => field.current?.focus()}
      />
      <input
        ref={field}
        type="text"
        className={joinClasses(look.input, css.short)}
        aria-label={`Something else: ${labelOf(about)}`}
        placeholder="Something else…"
        autoComplete="off"
        value={own.text}
        onChange={(event) => onAnswer({ text: event.target.value, isChosen: true })}
      />
    </div>
  );
}
