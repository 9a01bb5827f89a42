/**
 * A session as a file, and back. In: what log, history and blob store have of it. Out: lines of text without secrets, in
 * the format of the protocol; or, from such lines, a session that can be read and does not go on.
 */
export { checkedParts, unpacked } from './checked-parts.ts';
export { exportSession } from './export-session.ts';
export { importSession } from './import-session.ts';
