import type { Field, FieldValue } from './read-fields.ts';

/** What one control of a form needs. */
export interface ControlProps<F extends Field> {
  field: F;
  value: FieldValue;
  onChange: (value: FieldValue) => void;
  ids: {
    /** To be given to the control, for its label. */
    control: string;
    /** The label's own, for a control that consists of several. */
    label: string;
  };
  /** Ids of what says more about it; undefined for none. */
  describedBy: string | undefined;
  isInvalid: boolean;
}

/** More choices than this stand in a list that opens. */
const most = 6;

/** Whether all choices are in sight: a group of controls, which no label can belong to. */
export function isInSight(field: Field): boolean {
  if (field.kind === 'several') return true;
  return field.kind === 'one' && (field.takesOther || field.choices.length <= most);
}
