import { createHash } from 'node:crypto';
import type { Grant } from '@liminal/protocol';
import type { Transaction } from 'kysely';
import { readGrant } from '../store/stored-json.ts';
import { textKey } from '../store/text-key.ts';
import type { Tables } from './tables.ts';

export async function listGrants(db: Transaction<Tables>, projectId: string): Promise<Grant[]> {
  const rows = await db
    .selectFrom('grants')
    .select('record')
    .where('project_id', '=', textKey(projectId))
    .orderBy('grant_key')
    .execute();
  return rows.flatMap(({ record }) => readGrant(record) ?? []);
}

export async function addGrant(
  db: Transaction<Tables>,
  projectId: string,
  grant: Grant,
): Promise<void> {
  const hash = grantHash(projectId, grant.rule);
  await db
    .insertInto('grants')
    .values({ project_id: textKey(projectId), hash, record: JSON.stringify(grant) })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .execute();
}

export async function removeGrant(
  db: Transaction<Tables>,
  projectId: string,
  rule: string,
): Promise<void> {
  await db.deleteFrom('grants').where('hash', '=', grantHash(projectId, rule)).execute();
}

function grantHash(projectId: string, rule: string): string {
  return createHash('sha256')
    .update(JSON.stringify([projectId, rule]))
    .digest('hex');
}
