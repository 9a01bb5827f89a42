import { expect, test } from 'vitest';
import { createDemoProvider } from '../kinds/demo/index.ts';
import { ProviderError } from '../contract/errors.ts';
import type { CliProvider } from '../contract/provider.ts';
import { ProviderRegistry } from './registry.ts';

const provider = (cliType: string): CliProvider =>
  Object.defineProperty(createDemoProvider(), 'cliType', { value: cliType });

test('TC-2.2a: the registry gives the provider of an agent type', () => {
  const registry = new ProviderRegistry();
  const [claude, codex] = [provider('claude-code'), provider('codex')];
  registry.register(claude);
  registry.register(codex);

  expect(registry.get('claude-code')).toBe(claude);
  expect(registry.list()).toEqual([claude, codex]);
});

test('TC-2.2b: an unknown agent type is an error that names the known types', () => {
  const registry = new ProviderRegistry();
  registry.register(provider('claude-code'));
  registry.register(provider('codex'));

  const get = () => registry.get('gemini');

  expect(get).toThrow(ProviderError);
  expect(get).toThrow(
    expect.objectContaining({
      code: 'UNSUPPORTED_CLI_TYPE',
      message: expect.stringMatching(/gemini.*claude-code, codex/),
    }),
  );
});

test('the last provider registered for an agent type counts', () => {
  const registry = new ProviderRegistry();
  const [first, second] = [provider('demo'), provider('demo')];
  registry.register(first);
  registry.register(second);

  expect(registry.get('demo')).toBe(second);
  expect(registry.list()).toEqual([second]);
});
