/**
 * Content blocks, tool kinds, locations, diffs and plan entries in the shapes of the Agent Client Protocol (ACP v1).
 */
import { z } from 'zod';

/**
 * The bytes of a block: either in base64 (`data`), or in the blob store under `uri: "blob:<hash>"`. The log contains
 * only references of the second kind.
 */
const bytes = {
  data: z.string().optional(),
  uri: z.string().optional(),
  /** The file's name or address, for people. */
  name: z.string().optional(),
  /** The size in bytes. */
  size: z.number().optional(),
};
const hasBytes = ({ data, uri }: { data?: string | undefined; uri?: string | undefined }) =>
  data !== undefined || uri !== undefined;
const noBytes = 'must have data or uri';

/** An attachment of a message. */
export const ContentBlock = z.discriminatedUnion('type', [
  z.object({ type: z.literal('image'), mimeType: z.string(), ...bytes }).refine(hasBytes, noBytes),
  z.object({ type: z.literal('audio'), mimeType: z.string(), ...bytes }).refine(hasBytes, noBytes),
  z.object({
    type: z.literal('resource'),
    resource: z.object({
      /** The URI `blob:<hash>` of a file in the blob store. */
      uri: z.string(),
      mimeType: z.string().optional(),
      text: z.string().optional(),
      /** The bytes in base64. */
      blob: z.string().optional(),
      name: z.string().optional(),
      size: z.number().optional(),
    }),
  }),
  z.object({
    type: z.literal('resource_link'),
    uri: z.string(),
    name: z.string(),
    title: z.string().optional(),
    description: z.string().optional(),
    mimeType: z.string().optional(),
    size: z.number().optional(),
  }),
]);
export type ContentBlock = z.infer<typeof ContentBlock>;

/** The kind of work that a tool does; with it, a client can show a tool that it does not know. */
export const ToolKind = z.enum([
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'switch_mode',
  'other',
]);
export type ToolKind = z.infer<typeof ToolKind>;

/** A file that a tool works on; `line` counts from 1. */
export const ToolLocation = z.object({ path: z.string(), line: z.number().int().optional() });
export type ToolLocation = z.infer<typeof ToolLocation>;

/** The change of one file, or a part of that change; `oldText` is absent or null for a new file. */
export const FileDiff = z.object({
  path: z.string(),
  oldText: z.string().nullish(),
  newText: z.string(),
  /** The line numbers, from 1, at which `oldText` and `newText` begin in the file, if these numbers are known. */
  oldLine: z.number().optional(),
  newLine: z.number().optional(),
});
export type FileDiff = z.infer<typeof FileDiff>;

export const PlanEntry = z.object({
  content: z.string(),
  priority: z.enum(['high', 'medium', 'low']),
  status: z.enum(['pending', 'in_progress', 'completed']),
});
export type PlanEntry = z.infer<typeof PlanEntry>;

/** One possible answer to a permission request. */
export const ApprovalOption = z.object({
  optionId: z.string(),
  name: z.string(),
  kind: z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always']),
  /** The person may give the agent a reason with the answer (`note`). */
  takesNote: z.boolean().optional(),
  /**
   * If true, only a person may choose the option, never a default (a deadline, the Enter key). Set if the agent's own
   * kind for the option is none of these four, or if the agent asks for a deliberate answer.
   */
  isUnclear: z.boolean().optional(),
});
export type ApprovalOption = z.infer<typeof ApprovalOption>;

/** One value that a person can choose; `preview` is Markdown that shows the result of choosing the value. */
const FormChoice = z.looseObject({
  const: z.string(),
  title: z.string(),
  description: z.string().nullish(),
  preview: z.string().nullish(),
});

/** One field of a form, described with JSON Schema as in ACP's elicitation. */
export const FormField = z.looseObject({
  /** `string`, `number`, `integer`, `boolean`, or `array` for several values of a list. */
  type: z.string(),
  title: z.string().nullish(),
  /** The question's subject in one or two words. */
  header: z.string().nullish(),
  description: z.string().nullish(),
  default: z.unknown().optional(),
  /** Values to choose from. */
  enum: z.array(z.string()).nullish(),
  /** Values to choose from, each with a name. */
  oneOf: z.array(FormChoice).nullish(),
  /** For an `array`, the values to choose from. */
  items: z
    .looseObject({
      enum: z.array(z.string()).optional(),
      anyOf: z.array(FormChoice).optional(),
    })
    .optional(),
  /** The person may type an answer instead of choosing one; in an `array`, in addition to the choices. */
  other: z.boolean().optional(),
});
export type FormField = z.infer<typeof FormField>;

/** A form for a person to fill in, in the shape of ACP's elicitation. */
export const Form = z.looseObject({
  title: z.string().nullish(),
  description: z.string().nullish(),
  properties: z.record(z.string(), FormField),
  required: z.array(z.string()).nullish(),
});
export type Form = z.infer<typeof Form>;

/** The values of a filled-in form, by the fields' names. */
export const FormContent = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
);
export type FormContent = z.infer<typeof FormContent>;

/** The end of a permission request; `cancelled` if the request's turn or the agent's process ended before an answer. */
export const ApprovalOutcome = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('selected'),
    optionId: z.string(),
    /** The form as the person filled it in, or the arguments that the person has changed. */
    content: FormContent.optional(),
    /** The reason, in the words of the person who has answered. */
    note: z.string().optional(),
  }),
  z.object({ outcome: z.literal('cancelled'), reason: z.string().optional() }),
]);
export type ApprovalOutcome = z.infer<typeof ApprovalOutcome>;
