import { fileURLToPath } from 'node:url';

/** The path of the repository's folder, independent of the current folder. */
export const root = fileURLToPath(new URL('../../', import.meta.url));
