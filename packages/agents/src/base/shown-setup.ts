import { headOf, type SessionSetup, type SetupEntry, type SetupKind } from '@liminal/protocol';

/**
 * Most entries of a kind, and characters of a text. The part is bounded because the content comes from a project's
 * files.
 */
const maxEntries = 1_000;
const maxText = 2_000;

/** A part of a session's setup, bounded and without empty fields. */
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
