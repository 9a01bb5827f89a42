import { type Field, type FieldValue } from '@liminal/protocol';

/** What one control of a form needs. */
export interface ControlProps<F extends Field> {
  field: F;
  value: FieldValue;
  onChange: (value: FieldValue) => void;
  ids: {
    /** Id of the control, for its label. */
    control: string;
    /** Id of the label, for a control with several parts. */
    label: string;
  };
  /** Ids of further descriptions; undefined for none. */
  describedBy: string | undefined;
  isInvalid: boolean;
}

/** More choices than this go into a list that opens. */
const most = 6;

/** Whether all choices are in sight: a group of controls, which cannot have a label element. */
export function isInSight(field: Field): boolean {
  if (field.kind === 'several') return true;
  return field.kind === 'one' && (field.takesOther || field.choices.length <= most);
}
