/**
 * Texts with which agents report a person's action to their model. To a person, these texts read like a reproach, so
 * they are shown only as a detail.
 */
const forModel = [
  /^The user doesn[’']t want to (?:proceed with this tool use|take this action right now)\./,
  /^\[Request interrupted by user(?: for tool use)?\]$/,
  /^User rejected tool use$/,
];

/** Whether a text is meant for the agent's model, not for people. */
export function isForModel(text: string): boolean {
  return forModel.some((beginning) => beginning.test(text.trim()));
}
