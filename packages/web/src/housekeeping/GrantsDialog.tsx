import { describeError } from '@liminal/client';
import { useClient } from '@liminal/client/react';
import type { Grant, SessionSummary } from '@liminal/protocol';
import { useEffect, useState } from 'react';
import { Button } from '../look/controls.tsx';
import { Dialog } from '../look/Dialog.tsx';
import form from '../look/form.module.css';
import { FormProblem } from '../look/FormProblem.tsx';
import { ShownText } from '../look/ShownText.tsx';
import spoken from '../look/spoken.module.css';
import { baseName, shortPath } from '../words/paths.ts';
import { moment } from '../words/time.ts';
import css from './RowList.module.css';
import { labelOf } from '../words/label.ts';

interface GrantsDialogProps {
  /** The session whose project's permissions are shown. Any session of the project can be given. */
  session: SessionSummary;
  onClose: () => void;
}

/** Lists the permissions that are granted for a project. Each permission can be revoked. */
export default function GrantsDialog({ session, onClose }: GrantsDialogProps) {
  const { projectId, projectDir } = session;
  const { requests } = useClient();
  const [grants, setGrants] = useState<readonly PlacedGrant[]>();
  const [problem, setProblem] = useState<string>();
  const [notice, setNotice] = useState('');

  useEffect(() => {
    let isShown = true;
    // Decisions about a folder's settings are stored for the folder, not for the project.
    const places = [...new Set([projectId, projectDir])];
    const listed = places.map(async (place) =>
      (await requests.listGrants(place)).map((grant) => ({ ...grant, place })),
    );
    Promise.all(listed).then(
      (found) => isShown && setGrants(found.flat()),
      (error: unknown) => isShown && setProblem(describeError(error).message),
    );
    return () => void (isShown = false);
  }, [requests, projectId, projectDir]);

  const revoke = async ({ rule, title, place }: PlacedGrant) => {
    setProblem(undefined);
    try {
      await requests.removeGrant(place, rule);
      setGrants((all) => all?.filter((one) => one.rule !== rule));
      setNotice(`You are asked again: ${title}`);
    } catch (error) {
      setProblem(describeError(error).message);
    }
  };

  return (
    <Dialog title={`Always allowed in ${baseName(projectDir)}`} onClose={onClose}>
      <div className={form.form}>
        {grants === undefined && problem === undefined && <p role="status">Loading…</p>}
        {grants?.length === 0 && <p>Nothing is always allowed yet.</p>}
        {grants !== undefined && grants.length > 0 && (
          <>
            <p className={css.what}>
              This holds without asking in every session in <bdi>{shortPath(projectDir)}</bdi>.
            </p>
            <GrantList grants={grants} onRevoke={(grant) => void revoke(grant)} />
          </>
        )}
        <FormProblem text={problem} />
        <p className={spoken.only} role="status">
          {notice}
        </p>
        <div className={form.actions}>
          <Button data-autofocus onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

/** A grant, and the project for which it is stored. */
interface PlacedGrant extends Grant {
  place: string;
}

interface GrantListProps {
  grants: readonly PlacedGrant[];
  onRevoke: (grant: PlacedGrant) => void;
}

/** Whether the grant is the decision to ignore a folder's settings. */
const ignoresSettings = ({ rule }: Grant): boolean => rule.startsWith('project-settings:leave:');

function GrantList({ grants, onRevoke }: GrantListProps) {
  const [now] = useState(() => Date.now());
  return (
    <ul className={css.rows}>
      {grants.map((grant) => (
        <li key={grant.rule} title={labelOf(grant.rule)}>
          <span className={css.row}>
            <ShownText text={grant.title} />
            <small>
              {ignoresSettings(grant) ? 'Refused' : 'Allowed'} {moment(grant.grantedAt, now)}
            </small>
          </span>
          <Button aria-label={`Revoke: ${labelOf(grant.title)}`} onClick={() => onRevoke(grant)}>
            Revoke
          </Button>
        </li>
      ))}
    </ul>
  );
}
