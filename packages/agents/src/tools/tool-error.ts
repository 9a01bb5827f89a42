/** A wrong use of a tool, in a sentence that tells the model what to do instead. */
export class ToolError extends Error {}
