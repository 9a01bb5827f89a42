/** The Agent Client Protocol's own schema, to hold messages and session updates to. */
export {
  checkedStream,
  requestProblems,
  updateProblems,
  type CheckedStreamOptions,
} from './checked-stream.ts';
