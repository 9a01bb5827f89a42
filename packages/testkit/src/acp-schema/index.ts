/** The Agent Client Protocol's own schema, for checking messages and session updates. */
export {
  checkedStream,
  Dialogue,
  requestProblems,
  updateProblems,
  type CheckedStreamOptions,
} from './checked-stream.ts';
export { acpDefinitions } from './schema.ts';
