/** The HTTP operations, each as one entry of a table. For their bodies, see `wire/http.ts`. */
export { type CommandName, commands, refusalsOfCommands } from './commands.ts';
export {
  type Answer,
  type Arguments,
  argumentsOf,
  fillPath,
  ID_MAX,
  type Methods,
  type Operation,
  partsOf,
  pathSchema,
  readArguments,
} from './operation.ts';
export { operations, serverOperations } from './operations.ts';
export { type RefusalCode, refusals, refusalsOfAny, refusalStatus } from './refusals.ts';
