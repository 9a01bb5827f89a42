/** All names that the agents declare, compared with the rows. */
import * as claude from './claude-code.ts';
import * as codex from './codex.ts';
import { claudeNames, codexNames } from './declared.ts';
import { findProblems } from './row.ts';

/** Runs Codex, which generates files with its types. */
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
