export { describeTools } from './describe-tools.ts';
export { findScript, scriptFence } from './find-script.ts';
export { defaultLimits, type ScriptLimits } from './limits.ts';
export {
  runScript,
  type ScriptHost,
  type ScriptOptions,
  type ScriptOutcome,
} from './run-script.ts';
export type { ScriptError, ScriptErrorCode } from './script-error.ts';
