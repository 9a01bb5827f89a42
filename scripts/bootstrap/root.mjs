import { fileURLToPath } from 'node:url';

/** The repository's folder, independent of the current folder. */
export const root = fileURLToPath(new URL('../../', import.meta.url));
