import { headOf, type SessionSetup, type SetupEntry, type SetupKind } from '@liminal/protocol';

/** The most entries of a kind, and characters of a text: agents report what files of a project say. */
const maxEntries = 1_000;
const maxText = 2_000;

/** A part of what holds in a session, within bounds and without empty fields. */
export const shownPart = (
  kind: SetupKind,
  entries: readonly SetupEntry[],
): SessionSetup['parts'][number] => ({
  kind,
  entries: entries.slice(0, maxEntries).map(({ name, detail = '', source = '', isOff }) => ({
    name: headOf(name, maxText),
    ...(detail !== '' && { detail: headOf(detail, maxText) }),
    ...(source !== '' && { source: headOf(source, maxText) }),
    ...(isOff === true && { isOff }),
  })),
});
