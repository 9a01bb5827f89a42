import { expect, test } from 'vitest';
import { DemoDriver } from '../kinds/demo/index.ts';
import { ProviderError } from '../contract/errors.ts';
import type { AgentDriver } from '../contract/driver.ts';
import { DriverRegistry } from './registry.ts';

const driver = (cliType: string): AgentDriver =>
  Object.defineProperty(new DemoDriver(), 'cliType', { value: cliType });

test('TC-2.2a: the registry gives the driver of an agent type', () => {
  const registry = new DriverRegistry();
  const [claude, codex] = [driver('claude-code'), driver('codex')];
  registry.register(claude);
  registry.register(codex);

  expect(registry.get('claude-code')).toBe(claude);
  expect(registry.list()).toEqual([claude, codex]);
});

test('TC-2.2b: an unknown agent type is an error that names the known types', () => {
  const registry = new DriverRegistry();
  registry.register(driver('claude-code'));
  registry.register(driver('codex'));

  const get = () => registry.get('gemini');

  expect(get).toThrow(ProviderError);
  expect(get).toThrow(
    expect.objectContaining({
      code: 'UNSUPPORTED_CLI_TYPE',
      message: expect.stringMatching(/gemini.*claude-code, codex/),
    }),
  );
});

test('if two drivers are registered for an agent type, the last one is used', () => {
  const registry = new DriverRegistry();
  const [first, second] = [driver('demo'), driver('demo')];
  registry.register(first);
  registry.register(second);

  expect(registry.get('demo')).toBe(second);
  expect(registry.list()).toEqual([second]);
});
