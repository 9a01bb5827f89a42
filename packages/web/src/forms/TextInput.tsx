import { type NumberField, type TextField, type TextFormat } from '@liminal/protocol';
import { join } from '../look/controls.tsx';
import look from '../look/form.module.css';
import type { ControlProps } from './control.ts';
import css from './FormFields.module.css';

const inputTypes: Record<TextFormat, string> = {
  email: 'email',
  uri: 'url',
  date: 'date',
  'date-time': 'datetime-local',
};

/** Texts that may be longer than this (characters) get several lines. */
const oneLine = 200;

/** A text or a number. Numbers stay text until they are sent: a browser's number field loses invalid input. */
export function TextInput(props: ControlProps<TextField | NumberField>) {
  const { field, value, onChange, ids, describedBy, isInvalid } = props;
  const shared = {
    id: ids.control,
    value: String(value),
    'aria-required': field.isRequired,
    'aria-invalid': isInvalid,
    'aria-describedby': describedBy,
    autoComplete: 'off',
  };
  if (field.kind === 'text' && isLong(field)) {
    return (
      <textarea
        {...shared}
        className={join(look.input, css.long)}
        rows={3}
        placeholder={field.isList && 'One on each line'}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
      />
    );
  }
  return (
    <input
      {...shared}
      className={join(look.input, css.short)}
      type={field.kind === 'text' && field.format ? inputTypes[field.format] : 'text'}
      inputMode={field.kind === 'number' ? numberKeys(field) : undefined}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

function isLong({ initial, maxLength = 0, format, isList }: TextField): boolean {
  if (format !== undefined) return false;
  return isList === true || maxLength > oneLine || initial.includes('\n');
}

/** A phone's number keys lack a sign and, for whole numbers, a point. */
function numberKeys({ isWhole, minimum }: NumberField): 'text' | 'numeric' | 'decimal' {
  if (minimum === undefined || minimum < 0) return 'text';
  return isWhole ? 'numeric' : 'decimal';
}
