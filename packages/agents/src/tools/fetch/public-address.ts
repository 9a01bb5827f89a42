// It knows the ranges that IANA keeps for special uses.
import ipaddr from 'ipaddr.js';

/** All that is given out for the internet in IPv6. */
const global6 = ipaddr.parseCIDR('2000::/3');

/** Whether an IP address is one of the public internet: not this machine, its network, or anything special. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // An IPv4 address in IPv6 clothes is seen as what it is.
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(global6);
}
