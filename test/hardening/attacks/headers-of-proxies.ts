import type { Attack } from './attack.js';

const MOUNTS = 'test/hardening/mounted-hosts.test.ts';
const CLIENTS = 'test/limits/unknown-clients.test.ts';
const CARDS = 'test/hardening/foreign-hosts.test.ts';

export const HEADERS_OF_PROXIES: readonly Attack[] = [
  {
    attack:
      'a page rebinds its name to a mount in Express, Fastify or Hono, and reads tasks, files, figures or sessions',
    file: MOUNTS,
    test: 'refuses the hosts of other machines at every endpoint, and names the option',
  },
  {
    attack: 'a foreign host is sent over another connection first, so that the server has learnt it',
    file: MOUNTS,
    test: 'does not learn a host that it has refused, or that came with forwarded headers of no proxy',
  },
  {
    attack: 'a mount on all addresses is asked over loopback, because its bound address looks public',
    file: MOUNTS,
    test: 'Express on all addresses',
  },
  {
    attack: 'the url of a web request says localhost, because the runtime made it, and its Host header another name',
    file: MOUNTS,
    test: 'look at the Host header before the url, which the runtime may have made itself',
  },
  {
    attack: 'a rebound page adds X-Forwarded-Host with a public host, which page scripts may do',
    file: MOUNTS,
    test: 'may name any host if it is trusted, and those of publicHosts only if there are some',
  },
  {
    attack: 'a foreign :authority beside a harmless host header over HTTP/2',
    file: 'test/grpc/access.test.ts',
    test: 'refuses the authority of another machine, and names the option',
  },
  {
    attack: 'a rebound page posts JSON to a webhook that takes every sender',
    file: 'test/push-receiver/push-receiver.test.ts',
    test: 'for the host of another machine, if every sender is taken and no host is named',
  },
  {
    attack: 'Forwarded: for="[::1%lo]:80" makes a client a program of the machine, which has no limits',
    file: CLIENTS,
    test: 'a loopback address with a port and a zone',
  },
  {
    attack: 'a made-up Forwarded contradicts the header of the proxy, so that the client counts as the proxy',
    file: CLIENTS,
    test: 'a made-up Forwarded beside the header of the proxy',
  },
  {
    attack: 'more hops of a trusted address than the server reads, so that the walk ends at a proxy',
    file: CLIENTS,
    test: 'more hops than a chain of proxies has',
  },
  {
    attack: 'a new obfuscated name in each request, to get a new rate each time',
    file: CLIENTS,
    test: 'anything unreadable shares one rate, and spends that of no other client',
  },
  {
    attack: 'sessions of WebSockets without end under for=unknown',
    file: CLIENTS,
    test: "anything unreadable has the places of one address for sessions of Cap'n Web",
  },
  {
    attack: 'a client leaves before its address is read, so that its turns count for nobody',
    file: CLIENTS,
    test: 'a client that leaves at once keeps its address, and so its limits',
  },
  {
    attack: 'a client behind a proxy that sends no header for it changes the cache as a program of the machine',
    file: CLIENTS,
    test: 'take programs of this machine, and no client behind a proxy that tells nothing of it',
  },
  {
    attack: 'the same through a trusted proxy that sends no forwarded header at all',
    file: CLIENTS,
    test: 'take no request of a trusted proxy',
  },
  {
    attack: 'a prefix of the client passes a proxy that sets the host only, and stands in a card that caches share',
    file: CARDS,
    test: 'takes a prefix from a trusted proxy only, and only if it is listed with the host',
  },
  {
    attack: 'a prefix or a host of any length in every cached card',
    file: CARDS,
    test: 'takes any valid prefix without public hosts, but none that is long',
  },
  {
    attack: 'a listed host with 65,535 ports, each with its entry in Redis',
    file: CARDS,
    test: 'any port of a listed host',
  },
  {
    attack: 'a list of agents or a document without Cache-Control, which a cache keeps by itself for others',
    file: CARDS,
    test: 'depends on forwarded headers, and so does every answer with an address: %s',
  },
];
