import { bundleServer } from './bundle.mjs';
import { install } from './install.mjs';
import { buildWeb } from './web.mjs';

/**
 * Installs and builds the missing parts that Liminal needs.
 * @param {string} root
 */
export async function prepare(root) {
  await install(root);
  await buildWeb(root);
  await bundleServer(root);
}
