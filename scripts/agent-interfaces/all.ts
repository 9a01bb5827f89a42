/** Compares all names that the agents declare with the rows. */
import * as claude from './claude-code.ts';
import * as codex from './codex.ts';
import { claudeNames, codexNames } from './declared.ts';
import { findProblems } from './row.ts';

/** Returns all differences. Runs Codex, which writes its types as files. */
export function findAllProblems(): string[] {
  const claudes = claudeNames();
  const codexs = codexNames();
  return [
    ...findProblems(claude.claudeMessages, claudes.messages),
    ...findProblems(claude.claudeRequests, claudes.requests),
    ...findProblems(claude.claudeMethods, claudes.methods),
    ...findProblems(claude.claudeOptions, claudes.options),
    ...findProblems(claude.claudeFunctions, claudes.functions),
    ...findProblems(codex.codexRequests, codexs.requests),
    ...findProblems(codex.codexNotifications, codexs.notifications),
    ...findProblems(codex.codexServerRequests, codexs.serverRequests),
    ...findProblems(codex.codexItems, codexs.items),
  ];
}
