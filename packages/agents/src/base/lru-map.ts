export { LruMap } from '@liminal/protocol';
