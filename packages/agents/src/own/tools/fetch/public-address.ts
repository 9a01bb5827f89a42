// The library has the ranges that IANA reserves for special uses.
import ipaddr from 'ipaddr.js';

/** The ranges of IPv6 addresses that are assigned for the internet. */
const global6 = ipaddr.parseCIDR('2000::/3');

/**
 * Returns whether an IP address is on the public internet, and not this machine, in its network, or a special address.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // `process` converts an IPv4 address that is written as IPv6 to IPv4.
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(global6);
}
