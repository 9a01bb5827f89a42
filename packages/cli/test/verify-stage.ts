/** Model servers, agents and storage for the tests of `liminal verify`. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  answer,
  claudeEnvironment,
  codexEnvironment,
  makeCodexHome,
  message,
  postgresRows,
  reply,
  type ResponsesApi,
  startMessagesApi,
  startResponsesApi,
  testPostgres,
  testRedis,
  text,
} from '@liminal/testkit';
import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import type { Home } from './command.ts';

export const answerText =
  'Very small things come in lumps, and nobody knows which until they look.';
/** Send text as a model does, a few characters at a time. */
const pace = { chunk: 12, delayMs: 40 };
export const streamed = answer(message(answerText, pace));

/** Starts the model server of a bare model with the type `local`. `script` contains the model's answers. */
export async function localModel(script: Parameters<typeof startResponsesApi>[0]['script']) {
  const api = await startResponsesApi({ script });
  onTestFinished(() => api.close());
  return { api, models: modelAt(api) };
}

const modelAt = ({ url }: Pick<ResponsesApi, 'url'>) => ({
  local: { type: 'openai', baseUrl: url, model: 'm', api: 'responses' },
});

/** Returns the environment of the real Claude Code and Codex, together with models for all agents. */
export async function allAgents({ folder }: Home) {
  const { api, models } = await localModel(() => streamed);
  const messages = await startMessagesApi({ script: () => reply(text(answerText, pace)) });
  onTestFinished(() => messages.close());
  await makeCodexHome(join(folder, '.codex'), api.url);
  mkdirSync(join(folder, 'tmp'), { recursive: true });
  const env = { ...codexEnvironment(folder), ...claudeEnvironment(folder, messages.url) };
  return { models, env };
}

/**
 * Makes a Redis prefix and a database schema for this test. Returns the configuration of both, and a function that
 * lists the keys and rows in them.
 */
export async function sharedStorage() {
  const [redis, postgres] = await Promise.all([testRedis(), testPostgres()]);
  const [redisPrefix, databaseSchema] = [redis.newPrefix(), postgres.newSchema()];
  const connection = new Redis(redis.url);
  onTestFinished(async () => {
    connection.disconnect();
    await Promise.all([redis.release(), postgres.release()]);
  });
  return {
    redis: connection,
    config: { redisUrl: redis.url, databaseUrl: postgres.url, redisPrefix, databaseSchema },
    /** Returns the names of all keys, and all rows of the tables, that match the regular expression `what`. */
    left: async (what: RegExp) => ({
      keys: (await connection.keys(`*${redisPrefix}*`)).filter((key) => what.test(key)),
      rows: (await postgresRows(postgres.url, databaseSchema)).filter((row) => what.test(row)),
    }),
  };
}

/**
 * Writes a configuration into the data folder, or into another file of the home folder. Returns the path of the file.
 */
export function configure(home: Home, config: object, name = 'data/liminal.json'): string {
  const path = join(home.folder, name);
  mkdirSync(home.data, { recursive: true });
  writeFileSync(path, JSON.stringify(config));
  return path;
}

/** Returns the project folders that checks have left behind. */
export const foldersLeft = ({ folder, project }: Home): string[] =>
  [...readdirSync(folder), ...readdirSync(project)].filter((name) => name.includes('verify'));
