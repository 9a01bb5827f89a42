import { type Field, type FieldValue } from '@liminal/protocol';

/** The props that every control of a form has. */
export interface ControlProps<F extends Field> {
  field: F;
  value: FieldValue;
  onChange: (value: FieldValue) => void;
  ids: {
    /** The id of the control, for its label. */
    control: string;
    /** The id of the label, for a control that consists of several elements. */
    label: string;
  };
  /** The ids of further descriptions; undefined if there are none. */
  describedBy: string | undefined;
  isInvalid: boolean;
}

/** The most choices that are all visible. More choices are in a list that opens. */
const most = 6;

/** Whether all choices are visible, as a group of controls. Such a group cannot have a label element. */
export function isInSight(field: Field): boolean {
  if (field.kind === 'several') return true;
  return field.kind === 'one' && (field.takesOther || field.choices.length <= most);
}
