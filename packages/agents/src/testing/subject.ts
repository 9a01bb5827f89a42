import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { CliProvider } from '../contract/provider.ts';
import { Watch } from './watch.ts';

export interface ProviderUnderTest {
  provider: CliProvider;
  /** An existing folder. */
  projectDir: string;
  /** The messages to send. The key of each message says what the agent does after it. */
  prompts: {
    /** Answers in words. */
    text: string;
    /** The agent uses a tool that needs no permission. */
    tool: string;
    /** The agent asks for permission, and completes the turn after permission was given. */
    approval: string;
    /** The agent continues until it is stopped. */
    slow: string;
    /** The agent ends the turn with an error. */
    error: string;
  };
  /** The status with which a turn ends after a refused permission. Default `completed`. */
  afterRefusal?: 'completed' | 'cancelled';
  teardown: () => Promise<void>;
}

/** Opens a new session; its events are collected from the beginning. */
export async function openSession({ provider, projectDir, prompts }: ProviderUnderTest) {
  const sessionId = randomUUID();
  const watch = new Watch(provider, sessionId);
  expect(provider.isAlive(sessionId)).toBe(false);
  const { cliType } = provider;
  expect(await provider.createSession({ projectDir, sessionId })).toEqual({ sessionId, cliType });
  const send = async (prompt: keyof typeof prompts) =>
    (await provider.sendMessage(sessionId, prompts[prompt])).turnId;
  return { sessionId, watch, send };
}

/** Matches an error with this code and a sentence for people. */
export const coded = (code: string | RegExp) => ({
  code: typeof code === 'string' ? code : expect.stringMatching(code),
  message: expect.stringMatching(/\w+/),
});
