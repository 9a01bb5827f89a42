import { processSupport } from '@liminal/agents';
import type { Config } from '../config/load.ts';
import { findServer } from '../data/server-file.ts';
import { type Finding, findingLine } from '../finding.ts';
import { isFree } from '../port.ts';
import { version } from '../version.ts';
import { checkAgents } from './doctor-agents.ts';
import { checkProxies } from './doctor-proxies.ts';
import { checkDataFolder, checkNode, checkShared } from './doctor-settings.ts';

/** Prints whether the server and each agent can run, or the reason why not. Returns 1 if the server could not start. */
export async function doctor(config: Config): Promise<number> {
  let isBad = false;
  const report = (finding: Finding): void => {
    isBad ||= finding.verdict === 'bad';
    console.log(findingLine(finding));
  };
  report({ verdict: 'good', text: `Liminal ${version}` });
  report(checkNode());
  report(checkDataFolder(config.dataDir));
  report(await checkServer(config));
  report(checkProcesses());
  for (const finding of checkProxies(config, process.env)) report(finding);
  if (config.shared) for (const finding of await checkShared(config.shared)) report(finding);
  await checkAgents(config, report);
  return isBad ? 1 : 0;
}

async function checkServer({ dataDir, host, port, portChosen }: Config): Promise<Finding> {
  const server = await findServer(dataDir);
  if (server)
    return { verdict: 'good', text: `A server runs at ${server.url} (process ${server.pid})` };
  if (await isFree(host, port)) return { verdict: 'good', text: `Port ${port} on ${host} is free` };
  return portChosen
    ? { verdict: 'bad', text: `Port ${port} on ${host} is in use. Choose another with --port.` }
    : {
        verdict: 'poor',
        text: `Port ${port} on ${host} is in use: the server uses the next free one`,
      };
}

function checkProcesses(): Finding {
  const { complete, sentence } = processSupport();
  return { verdict: complete ? 'good' : 'poor', text: sentence };
}
