import { useId } from 'react';
import { join } from '../look/controls.tsx';
import look from '../look/form.module.css';
import type { ControlProps } from './control.ts';
import css from './FormFields.module.css';
import type { Choice, OneField, SeveralField } from './read-fields.ts';

/** One of a few, or any of several: all of them in sight. */
export function ChoiceList(props: ControlProps<OneField | SeveralField>) {
  const { field, value, onChange, ids, describedBy, isInvalid } = props;
  const name = useId();
  const isOne = field.kind === 'one';
  const chosen = Array.isArray(value) ? value : [value];
  const offered: Choice[] =
    isOne && !field.isRequired
      ? [...field.choices, { value: '', title: 'No answer' }]
      : field.choices;
  const toggle = ({ value: picked }: Choice, isOn: boolean) => {
    if (isOne) return onChange(picked);
    const others = chosen.filter((one) => one !== picked);
    return onChange(
      field.choices
        .map((one) => one.value)
        .filter((one) => (one === picked ? isOn : others.includes(one))),
    );
  };
  return (
    <div
      className={css.choices}
      role={isOne ? 'radiogroup' : 'group'}
      aria-labelledby={ids.label}
      aria-describedby={describedBy}
      aria-required={isOne ? field.isRequired : undefined}
      data-invalid={isInvalid}
    >
      {offered.map((choice) => (
        <label key={choice.value} className={css.choice}>
          <input
            type={isOne ? 'radio' : 'checkbox'}
            name={name}
            checked={chosen.includes(choice.value)}
            onChange={(event) => toggle(choice, event.target.checked)}
          />
          <span>
            {choice.title}
            {choice.description !== undefined && <small>{choice.description}</small>}
          </span>
        </label>
      ))}
    </div>
  );
}

/** One of many. */
export function ChoiceSelect(props: ControlProps<OneField>) {
  const { field, value, onChange, ids, describedBy, isInvalid } = props;
  const chosen = field.choices.find((choice) => choice.value === value);
  return (
    <>
      <select
        id={ids.control}
        className={join(look.input, css.short)}
        value={String(value)}
        aria-required={field.isRequired}
        aria-invalid={isInvalid}
        aria-describedby={describedBy}
        onChange={(event) => onChange(event.target.value)}
      >
        {(value === '' || !field.isRequired) && (
          <option value="">{field.isRequired ? 'Choose …' : 'No answer'}</option>
        )}
        {field.choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.title}
          </option>
        ))}
      </select>
      {chosen?.description !== undefined && <p className={css.description}>{chosen.description}</p>}
    </>
  );
}
