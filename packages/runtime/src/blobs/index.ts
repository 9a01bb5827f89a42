/**
 * Stores the bytes of messages: images and files are in the blob store, and the log only refers to them. In: content
 * blocks with their bytes, from users and agents. Out: the same blocks with `blob:<hash>` instead of bytes; and, for an
 * agent, blocks with their bytes again.
 */
export { BlobKeeper } from './blob-keeper.ts';
export { holdAgain } from './hold-again.ts';
export { loadBytes, storeBlocks, putBlob } from './message-blobs.ts';
export { decodeText } from './references.ts';
export { sweepUploads } from './sweep.ts';
