/**
 * The bytes of messages: images and files are kept in the blob store, and the log only names them. In: content blocks
 * with their bytes, of people and of agents. Out: the same blocks with `blob:<hash>`, and the bytes again for an agent.
 */
export { BlobKeeper } from './blob-keeper.ts';
export { holdAgain } from './hold-again.ts';
export { blobGone, bringBytes, keepMessage, putBlob } from './message-blobs.ts';
export { textOf } from './references.ts';
export { sweepUploads } from './sweep.ts';
