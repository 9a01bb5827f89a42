/** The Agent Client Protocol's own schema, to hold messages and session updates to. */
export {
  checkedStream,
  Dialogue,
  requestProblems,
  updateProblems,
  type CheckedStreamOptions,
} from './checked-stream.ts';
export { acpDefinitions } from './schema.ts';
