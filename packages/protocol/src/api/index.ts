/** The HTTP operations, each as one entry of a table. The schemas of their bodies are in `wire/http.ts`. */
export { type CommandName, commands, refusalsOfCommands } from './commands.ts';
export {
  type OperationResult,
  type OperationArguments,
  requestArguments,
  fillPath,
  idMax,
  type Methods,
  type Operation,
  requestParts,
  pathSchema,
  readArguments,
} from './operation.ts';
export { operations, serverOperations } from './operations.ts';
export { type RefusalCode, refusals, refusalsOfAny, refusalStatus } from './refusals.ts';
