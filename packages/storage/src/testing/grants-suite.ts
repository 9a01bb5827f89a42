import { randomBytes } from 'node:crypto';
import type { Grant } from '@liminal/protocol';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ResponseStore } from '../response-store.ts';
import { sessionRecord } from './records.ts';
import type { Setup, SubjectUnderTest } from './subject.ts';

const grantedAt = '2026-01-01T00:00:00.000Z';
const edits: Grant = { rule: 'edit:src/', title: 'edits in src/', grantedAt };
const tests: Grant = { rule: 'command:npm test', title: 'npm test', grantedAt };

/** Tests the contract of every ResponseStore for grants of projects. */
export function grantsSuite(setup: Setup<ResponseStore>): void {
  let store: ResponseStore;
  let under: SubjectUnderTest<ResponseStore>;
  beforeEach(async () => {
    under = await setup();
    store = under.subject;
  });
  afterEach(() => under.teardown());

  describe('grants', () => {
    test('are listed by project, in the order of adding, also after a restart', async () => {
      await store.addGrant('project-1', tests);
      await store.addGrant('project-2', edits);
      await store.addGrant('project-1', edits);
      expect(await store.listGrants('project-1')).toStrictEqual([tests, edits]);
      const again = (await under.reopen?.()) ?? store;
      expect(await again.listGrants('project-1')).toStrictEqual([tests, edits]);
      expect(await again.listGrants('project-2')).toStrictEqual([edits]);
      expect(await again.listGrants('nobody')).toEqual([]);
    });

    test('with the same rule are stored as one grant: the first grant stays', async () => {
      await store.addGrant('project-1', edits);
      await store.addGrant('project-1', { ...edits, title: 'Other', grantedAt: '2027' });
      expect(await store.listGrants('project-1')).toStrictEqual([edits]);
    });

    test('are removed by rule, only in their own project, and can be added again', async () => {
      for (const project of ['project-1', 'project-2']) {
        await store.addGrant(project, edits);
        await store.addGrant(project, tests);
      }
      await store.removeGrant('project-1', edits.rule);
      await store.removeGrant('project-1', edits.rule);
      await store.removeGrant('nobody', edits.rule);
      expect(await store.listGrants('project-1')).toStrictEqual([tests]);
      expect(await store.listGrants('project-2')).toStrictEqual([edits, tests]);
      await store.addGrant('project-1', edits);
      expect(await store.listGrants('project-1')).toStrictEqual([tests, edits]);
    });

    test('that are added at the same time are all stored, each grant once', async () => {
      const many = Array.from({ length: 12 }, (_, at) => ({ ...edits, rule: `command:${at}` }));
      await Promise.all([...many, ...many].map(async (one) => store.addGrant('project-1', one)));
      const rules = (await store.listGrants('project-1')).map(({ rule }) => rule);
      expect(rules.toSorted()).toEqual(many.map(({ rule }) => rule).toSorted());
    });

    test('stay when a session of the project is deleted', async () => {
      await store.saveSession(sessionRecord('session-1'));
      await store.addGrant('project-1', edits);
      await store.deleteSession('session-1');
      expect(await store.listGrants('project-1')).toStrictEqual([edits]);
    });

    test('SAFE: with any characters, and of any length, are kept distinct', async () => {
      const long = `command:${randomBytes(20_000).toString('base64')}`;
      const rules = ['\ud800', '\ud801', '\ufffd', '\u0000', '\\ud800', long, `${long}x`, '', ' '];
      for (const rule of rules) {
        for (const project of rules) await store.addGrant(project, { ...edits, rule, title: rule });
      }
      for (const project of rules) {
        const listed = await store.listGrants(project);
        expect(listed).toStrictEqual(rules.map((rule) => ({ ...edits, rule, title: rule })));
      }
      await store.removeGrant('\ud800', '\ud800');
      expect(await store.listGrants('\ud800')).toHaveLength(rules.length - 1);
      expect(await store.listGrants('\ud801')).toHaveLength(rules.length);
    });

    test('are returned as copies', async () => {
      const mine = { ...edits };
      await store.addGrant('project-1', mine);
      mine.title = 'Changed';
      for (const one of await store.listGrants('project-1')) one.title = 'Changed';
      expect(await store.listGrants('project-1')).toStrictEqual([edits]);
    });
  });
}
