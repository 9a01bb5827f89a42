import { z } from 'zod';

/** Longest id in a path, in characters; agents choose some of them. */
export const ID_MAX = 300;

const id = z.string().min(1).max(ID_MAX);

export const SessionPath = z.object({ id });
export const TurnPath = z.object({ id, turnId: id });
export const ApprovalPath = z.object({ id, approvalId: id });
export const AgentPath = z.object({ cliType: id });
export const RunPath = z.object({ id });
