import { type Field, type FieldValue } from '@liminal/protocol';

/** The props of one control of a form. */
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

/** The most choices that are all visible; more choices are in a list that opens. */
const most = 6;

/** Whether all choices are visible, as a group of controls, which cannot have a label element. */
export function isInSight(field: Field): boolean {
  if (field.kind === 'several') return true;
  return field.kind === 'one' && (field.takesOther || field.choices.length <= most);
}
