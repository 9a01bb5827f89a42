import { bundleServer } from './bundle.mjs';
import { install } from './install.mjs';
import { buildWeb } from './web.mjs';

/**
 * Installs and builds what Liminal needs and is still missing.
 * @param {string} root
 */
export async function prepare(root) {
  await install(root);
  await buildWeb(root);
  await bundleServer(root);
}
