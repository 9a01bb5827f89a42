/**
 * Exports a session to a file, and imports it. In: the session's data in log, history and blob store. Out: lines of
 * text without secrets, in the format of the protocol; or, from such lines, a session that can be read but not
 * continued.
 */
export { checkedParts, unpacked } from './checked-parts.ts';
export { exportSession } from './export-session.ts';
export { importSession } from './import-session.ts';
