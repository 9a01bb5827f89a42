import { headOf, type SessionSetup, type SetupEntry, type SetupKind } from '@liminal/protocol';

/**
 * The most entries of one kind, and the most characters of one text. Both are limited because a project's files
 * determine the content.
 */
const maxEntries = 1_000;
const maxText = 2_000;

/** Returns a part of a session's setup, limited in size, and without empty fields. */
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
