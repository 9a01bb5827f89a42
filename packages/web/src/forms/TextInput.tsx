import { hasHidden, type NumberField, type TextField, type TextFormat } from '@liminal/protocol';
import { joinClasses } from '../look/controls.tsx';
import look from '../look/form.module.css';
import { ShownText } from '../look/ShownText.tsx';
import type { ControlProps } from './control.ts';
import css from './FormFields.module.css';

const inputTypes: Record<TextFormat, string> = {
  email: 'email',
  uri: 'url',
  date: 'date',
  'date-time': 'datetime-local',
};

/**
 * The limits in characters: a field has several lines if its text may be longer than `most`, or if its initial text is
 * longer than `initial`.
 */
const oneLine = { most: 200, initial: 50 };
/**
 * The smallest number of lines that a text field has at first. The field shows its whole text, because a person may
 * send an initial text unchanged.
 */
const rows = 3;

/**
 * A field for a text or a number. A number stays a text until it is sent, because a browser's number field loses
 * invalid input.
 */
export function TextInput(props: ControlProps<TextField | NumberField>) {
  const { field, value, onChange, ids, describedBy, isInvalid } = props;
  const isHidden = field.kind === 'text' && field.isSecret === true;
  const shared = {
    id: ids.control,
    value: String(value),
    'aria-required': field.isRequired,
    'aria-invalid': isInvalid,
    'aria-describedby': describedBy,
    // The value `new-password` keeps browsers from offering a stored password.
    autoComplete: isHidden ? 'new-password' : 'off',
  };
  if (field.kind === 'text' && isLong(field)) {
    return (
      <>
        <textarea
          {...shared}
          className={joinClasses(look.input, css.long)}
          rows={Math.max(rows, rowCount(field.initial))}
          placeholder={field.isList && 'One on each line'}
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            event.currentTarget.form?.requestSubmit();
          }}
        />
        <HiddenIn text={String(value)} />
      </>
    );
  }
  return (
    <>
      <input
        {...shared}
        className={joinClasses(look.input, css.short)}
        type={inputType(field)}
        inputMode={field.kind === 'number' ? numberKeys(field) : undefined}
        onChange={(event) => onChange(event.target.value)}
      />
      {!isHidden && <HiddenIn text={String(value)} />}
    </>
  );
}

function inputType(field: TextField | NumberField): string {
  if (field.kind === 'number') return 'text';
  if (field.isSecret) return 'password';
  return field.format ? inputTypes[field.format] : 'text';
}

/** Shows the hidden characters of a field's text, since the field itself cannot mark them. */
function HiddenIn({ text }: { text: string }) {
  if (!hasHidden(text)) return null;
  return (
    <p className={css.description}>
      With hidden characters: <ShownText text={text} />
    </p>
  );
}

function isLong({ initial, maxLength = 0, format, isList, isSecret }: TextField): boolean {
  if (isSecret) return false;
  if (initial.length > oneLine.initial || initial.includes('\n')) return true;
  return format === undefined && (isList === true || maxLength > oneLine.most);
}

/** Returns how many lines a text needs in a field that is about 50 characters wide. */
function rowCount(text: string): number {
  return text
    .split('\n')
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / oneLine.initial)), 0);
}

/**
 * Returns the input mode of a number field. The number keys of a phone lack a minus sign and, for whole numbers, a
 * decimal point.
 */
function numberKeys({ isWhole, minimum }: NumberField): 'text' | 'numeric' | 'decimal' {
  if (minimum === undefined || minimum < 0) return 'text';
  return isWhole ? 'numeric' : 'decimal';
}
