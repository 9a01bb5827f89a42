import { expect, test } from 'vitest';
import { catalogue } from '../scripts/requirements/catalogue.ts';
import { groups } from './groups.ts';

test('every group of figures that a requirement lists exists', () => {
  const named = Object.values(catalogue).flatMap((requirement) =>
    typeof requirement === 'object' && 'figures' in requirement
      ? requirement.figures.split(' ')
      : [],
  );
  expect(named).toContain('claudeLoad');
  expect(named.filter((name) => !(name in groups))).toEqual([]);
});
