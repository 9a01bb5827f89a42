import { describe, expect, test } from 'vitest';
import type { Lease } from '../coordination.ts';
import type { TwoServers } from './subject.ts';

const longMs = 600_000;
const patience = { timeout: 15_000, interval: 10 };

export function leaseSuite(servers: () => TwoServers): void {
  describe('leases', () => {
    const both = () => [servers().one.coordination.leases, servers().two.coordination.leases];

    test('have one holder, which every server can see', async () => {
      const { one, two } = servers();
      const lease = await one.coordination.leases.acquire('session-1', 'server-1', longMs);
      expect(lease).toMatchObject({ name: 'session-1', holder: 'server-1' });
      expect(await two.coordination.leases.acquire('session-1', 'server-2', longMs)).toBe(
        undefined,
      );
      for (const leases of both()) {
        const held = await leases.holders(['session-1', 'session-2']);
        expect([...held]).toEqual([['session-1', lease]]);
      }
    });

    test('are acquired again by their holder, with the same token', async () => {
      const [leases] = both();
      const first = await leases?.acquire('session-1', 'server-1', longMs);
      expect(await leases?.acquire('session-1', 'server-1', longMs)).toEqual(first);
    });

    test('go to exactly one of many concurrent callers', async () => {
      const asked = Array.from({ length: 20 }, async (_, i) =>
        both()[i % 2]?.acquire('session-1', `server-${i}`, longMs),
      );
      const given = (await Promise.all(asked)).filter((lease) => lease !== undefined);
      expect(given).toHaveLength(1);
      expect((await both()[0]?.holders(['session-1']))?.get('session-1')).toEqual(given[0]);
    });

    test('do not affect leases of other names', async () => {
      const [leases] = both();
      const names = ['session-1', 'session:1', 'session-{1}', 'session-%7B1}', 'ß🧵'];
      for (const name of names) expect(await leases?.acquire(name, name, longMs)).toBeDefined();
      const holders = await leases?.holders(names);
      expect([...(holders?.values() ?? [])].map(({ holder }) => holder)).toEqual(names);
    });

    test('get a greater token with every change of the holder', async () => {
      const { one, two } = servers();
      const tokens: number[] = [];
      for (const [index, { coordination }] of [one, two, one, two].entries()) {
        const lease = await coordination.leases.acquire('session-1', `server-${index}`, longMs);
        tokens.push(lease?.token ?? Number.NaN);
        if (lease) await coordination.leases.release(lease);
      }
      expect(tokens).toEqual([...new Set(tokens)].toSorted((a, b) => a - b));
      expect(tokens).not.toContain(Number.NaN);
    });

    test('can be released at once', async () => {
      const { one, two } = servers();
      const lease = await one.coordination.leases.acquire('session-1', 'server-1', longMs);
      await one.coordination.leases.release(lease!);
      expect(await two.coordination.leases.holders(['session-1'])).toEqual(new Map());
      const next = await two.coordination.leases.acquire('session-1', 'server-2', longMs);
      expect(next?.token).toBeGreaterThan(lease!.token);
    });

    test('expire, and can then be acquired by another holder', async () => {
      const { one, two } = servers();
      const lease = await one.coordination.leases.acquire('session-1', 'server-1', 100);
      let taken: Lease | undefined;
      await expect
        .poll(async () => {
          taken = await two.coordination.leases.acquire('session-1', 'server-2', longMs);
          return taken;
        }, patience)
        .toBeDefined();
      expect(taken?.token).toBeGreaterThan(lease!.token);
      expect(await one.coordination.leases.renew(lease!, longMs)).toBe(false);
      await one.coordination.leases.release(lease!);
      expect((await one.coordination.leases.holders(['session-1'])).get('session-1')).toEqual(
        taken,
      );
    });

    test('are renewed even after they expired, unless another holder has acquired them', async () => {
      const { one, two } = servers();
      const { leases } = one.coordination;
      const lease = await leases.acquire('session-1', 'server-1', 50);
      await expect
        .poll(async () => (await two.coordination.leases.holders(['session-1'])).size, patience)
        .toBe(0);
      expect(await leases.renew(lease!, longMs)).toBe(true);
      expect((await two.coordination.leases.holders(['session-1'])).get('session-1')).toEqual(
        lease,
      );
      expect(await two.coordination.leases.acquire('session-1', 'server-2', longMs)).toBe(
        undefined,
      );
    });

    test('last for the time that their last renewal gave', async () => {
      const { leases } = servers().one.coordination;
      const lease = await leases.acquire('session-1', 'server-1', longMs);
      expect(await leases.renew(lease!, 50)).toBe(true);
      await expect.poll(async () => (await leases.holders(['session-1'])).size, patience).toBe(0);
    });
  });
}
