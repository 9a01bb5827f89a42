/** Checks messages and session updates by the Agent Client Protocol's own schema. */
export {
  checkedStream,
  Dialogue,
  requestProblems,
  updateProblems,
  type CheckedStreamOptions,
} from './checked-stream.ts';
export { acpDefinitions } from './schema.ts';
