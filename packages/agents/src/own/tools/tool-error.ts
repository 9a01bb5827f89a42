/** The error for a call that uses a tool wrongly. The message is a sentence for the model about what to do instead. */
export class ToolError extends Error {}
