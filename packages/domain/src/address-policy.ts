import ipaddr from 'ipaddr.js';

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** IPv4 ranges outside the public internet, plus Azure's host endpoint, which looks public. */
const DENIED_V4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure host endpoint
  '169.254.0.0/16', // link-local, cloud metadata
  '172.16.0.0/12', // private
  '192.0.0.0/24', // IETF protocol assignments, Oracle metadata
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
].map(parseRange);

/** IPv6 is an allow list: only this range is ever routed on the public internet. */
const ALLOWED_V6 = parseRange('2000::/3');

/** Subranges of ALLOWED_V6 that lead elsewhere: tunnels, which would smuggle in an IPv4 address, and special uses. */
const DENIED_V6 = [
  '2001::/23', // Teredo, benchmarking, AMT, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
].map(parseRange);

// ipaddr.js only parses. The ranges above decide what is public, because its own "unicast" lets several of them
// through.
function parseRange(cidr: string): Range {
  return ipaddr.parseCIDR(cidr);
}

/**
 * Says whether the service may connect to a literal IP address on behalf of a customer.
 * Accepts the forms that resolvers and sockets return: dotted decimal and IPv6 text. Refuses everything else:
 * shortened, octal or hexadecimal IPv4, IPv6 with a zone, IPv4 embedded in IPv6.
 */
export function isPublicAddress(ip: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(ip)) {
    const address = ipaddr.IPv4.parse(ip);
    return !DENIED_V4.some((range) => address.match(range));
  }
  if (ip.includes('%') || !ipaddr.IPv6.isValid(ip)) return false;
  const address = ipaddr.IPv6.parse(ip);
  return address.match(ALLOWED_V6) && !DENIED_V6.some((range) => address.match(range));
}

/**
 * What one party at an address surely holds: an IPv4 address alone, an IPv6 address with its whole /64, the smallest
 * network that is assigned. An IPv4 address embedded in IPv6 is the same as without; other text is returned unchanged.
 */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const prefix = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${prefix.join(':')}::/64`;
}
