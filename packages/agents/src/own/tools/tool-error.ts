/** A wrong use of a tool. The message is a sentence that says what the model should do instead. */
export class ToolError extends Error {}
