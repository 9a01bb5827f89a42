import { type FieldChoice, markHidden, type OneField, type SeveralField } from '@liminal/protocol';
import { useId, useState } from 'react';
import { joinClasses } from '../look/controls.tsx';
import look from '../look/form.module.css';
import { ShownText } from '../look/ShownText.tsx';
import type { ControlProps } from './control.ts';
import css from './FormFields.module.css';
import { type OwnAnswer, OwnChoice } from './OwnChoice.tsx';
import { Markdown } from '../markdown/Markdown.tsx';
import { labelOf } from '../words/label.ts';

/**
 * A field for one or several of a few choices. All choices are visible, with a preview of the choice under the pointer.
 */
export function ChoiceList(props: ControlProps<OneField | SeveralField>) {
  const { field, value, onChange, ids, describedBy, isInvalid } = props;
  const name = useId();
  const [looked, setLooked] = useState<string>();
  const isOne = field.kind === 'one';
  const chosen = Array.isArray(value) ? value : [String(value)];
  const offered: FieldChoice[] =
    isOne && !field.isRequired
      ? [...field.choices, { value: '', title: 'No answer' }]
      : field.choices;
  const known = (one: string): boolean => field.choices.some((choice) => choice.value === one);
  const given = chosen.find((one) => one !== '' && !known(one));
  const [own, setOwn] = useState({ text: given ?? '', isChosen: given !== undefined });
  /** Reports the answer: first the chosen choices that the form offers, then the person's own text. */
  const answer = (picked: readonly string[], { text, isChosen } = own) => {
    const ordered = field.choices.map((one) => one.value).filter((one) => picked.includes(one));
    return onChange(isChosen && text !== '' ? [...ordered, text] : ordered);
  };
  const toggle = (picked: string, isOn: boolean) => {
    if (!isOne) return answer(isOn ? [...chosen, picked] : chosen.filter((one) => one !== picked));
    setOwn({ ...own, isChosen: false });
    return onChange(picked);
  };
  const setOwnAnswer = (next: OwnAnswer) => {
    setOwn(next);
    return isOne ? onChange(next.isChosen ? next.text : '') : answer(chosen, next);
  };
  const shown =
    field.choices.find((choice) => choice.value === looked) ??
    field.choices.find((choice) => chosen.includes(choice.value)) ??
    field.choices[0];
  return (
    <div className={css.choosing} data-previews={field.choices.some(hasPreview)}>
      <div
        className={css.choices}
        role={isOne ? 'radiogroup' : 'group'}
        aria-labelledby={ids.label}
        aria-describedby={describedBy}
        aria-required={isOne ? field.isRequired : undefined}
        data-invalid={isInvalid}
      >
        {offered.map((choice) => (
          // Hover and focus both show the choice's preview.
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
          <label
            key={choice.value}
            className={css.choice}
            onMouseEnter={() => setLooked(choice.value)}
            onMouseLeave={() => setLooked(undefined)}
          >
            <input
              type={isOne ? 'radio' : 'checkbox'}
              name={name}
              checked={chosen.includes(choice.value) && !(isOne && own.isChosen)}
              onChange={(event) => toggle(choice.value, event.target.checked)}
              onFocus={() => setLooked(choice.value)}
              onBlur={() => setLooked(undefined)}
            />
            <span>
              <ShownText text={choice.title} />
              {choice.description !== undefined && (
                <small>
                  <ShownText text={choice.description} />
                </small>
              )}
            </span>
          </label>
        ))}
        {field.takesOther && (
          <OwnChoice
            type={isOne ? 'radio' : 'checkbox'}
            name={name}
            about={field.title}
            own={own}
            onAnswer={setOwnAnswer}
          />
        )}
      </div>
      {shown?.preview !== undefined && <Preview of={shown.title} text={shown.preview} />}
    </div>
  );
}

const hasPreview = ({ preview }: FieldChoice): boolean => preview !== undefined;

/** A field for one of many choices, as a select. */
export function ChoiceSelect(props: ControlProps<OneField>) {
  const { field, value, onChange, ids, describedBy, isInvalid } = props;
  const chosen = field.choices.find((choice) => choice.value === value);
  return (
    <>
      <select
        id={ids.control}
        className={joinClasses(look.input, css.short)}
        value={String(value)}
        aria-required={field.isRequired}
        aria-invalid={isInvalid}
        aria-describedby={describedBy}
        onChange={(event) => onChange(event.target.value)}
      >
        {(value === '' || !field.isRequired) && (
          <option value="">{field.isRequired ? 'Choose…' : 'No answer'}</option>
        )}
        {field.choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {markHidden(choice.title)}
          </option>
        ))}
      </select>
      {chosen?.description !== undefined && (
        <p className={css.description}>
          <ShownText text={chosen.description} />
        </p>
      )}
    </>
  );
}

/**
 * Shows the preview of a choice. The preview is rendered as Markdown only if it has a code fence, so that drawings made
 * of characters are not changed.
 */
function Preview({ of, text }: { of: string; text: string }) {
  return (
    <section className={css.preview} aria-label={`Preview of ${labelOf(of)}`}>
      {text.includes('```') ? (
        <Markdown>{text}</Markdown>
      ) : (
        <pre>
          <ShownText text={text} />
        </pre>
      )}
    </section>
  );
}
