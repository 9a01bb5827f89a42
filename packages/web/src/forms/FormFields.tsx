import { type Field, type FieldValue } from '@liminal/protocol';
import { type ReactNode, useId } from 'react';
import { ShownText } from '../look/ShownText.tsx';
import type { FormState } from './use-answers.ts';
import css from './FormFields.module.css';
import { ChoiceList, ChoiceSelect } from './Choices.tsx';
import { type ControlProps, isInSight } from './control.ts';
import { TextInput } from './TextInput.tsx';

/** Shows the fields of a form, each with its label, its description and its problem. */
export function FormFields({ form }: { form: FormState }) {
  return (
    <div className={css.fields}>
      {form.fields.map((field) => (
        <FieldRow
          key={field.name}
          field={field}
          value={form.answers[field.name] ?? field.initial}
          problem={form.problems.get(field.name)}
          onChange={(value) => form.change(field.name, value)}
        />
      ))}
    </div>
  );
}

interface FieldRowProps {
  field: Field;
  value: FieldValue;
  problem: string | undefined;
  onChange: (value: FieldValue) => void;
}

function FieldRow({ field, value, problem, onChange }: FieldRowProps) {
  const id = useId();
  const ids = { control: `${id}-control`, label: `${id}-label` };
  const descriptionIds = [
    field.description === undefined ? undefined : `${id}-description`,
    problem === undefined ? undefined : `${id}-problem`,
  ].filter((part) => part !== undefined);
  const describedBy = descriptionIds.length === 0 ? undefined : descriptionIds.join(' ');
  const shared = { value, onChange, ids, describedBy, isInvalid: problem !== undefined };
  return (
    <div className={css.field} data-field={field.name} data-kind={field.kind}>
      {field.kind !== 'switch' && <Label field={field} ids={ids} />}
      {field.description !== undefined && (
        <p id={`${id}-description`} className={css.description}>
          <ShownText text={field.description} />
        </p>
      )}
      {/* The problem is above the control, since the focus moves to the control's beginning, and a control can be long. */}
      {problem !== undefined && (
        <p id={`${id}-problem`} className={css.problem}>
          {problem}
        </p>
      )}
      {control(field, shared)}
    </div>
  );
}

function Label({ field, ids }: { field: Field; ids: ControlProps<Field>['ids'] }) {
  const content = (
    <>
      {field.header !== undefined && field.header !== field.title && (
        <span className={css.chip}>
          <ShownText text={field.header} />{' '}
        </span>
      )}
      <ShownText text={field.title} />
      {!field.isRequired && <small> optional</small>}
    </>
  );
  if (isInSight(field)) {
    return (
      <span id={ids.label} className={css.label}>
        {content}
      </span>
    );
  }
  return (
    <label id={ids.label} htmlFor={ids.control} className={css.label}>
      {content}
    </label>
  );
}

function control(field: Field, shared: Omit<ControlProps<Field>, 'field'>): ReactNode {
  switch (field.kind) {
    case 'text':
    case 'number':
      return <TextInput field={field} {...shared} />;
    case 'switch':
      return <Switch field={field} {...shared} />;
    case 'one':
      if (isInSight(field)) return <ChoiceList field={field} {...shared} />;
      return <ChoiceSelect field={field} {...shared} />;
    case 'several':
      return <ChoiceList field={field} {...shared} />;
  }
}

function Switch({ field, value, onChange, ids, describedBy }: ControlProps<Field>) {
  return (
    <label className={css.choice}>
      <input
        id={ids.control}
        type="checkbox"
        checked={value === true}
        aria-describedby={describedBy}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span className={css.label}>
        <ShownText text={field.title} />
      </span>
    </label>
  );
}
