import type { Attack } from './attack.js';

const FILE = 'test/matrix/names-given-twice.test.ts';

export const NAMES_GIVEN_TWICE: readonly Attack[] = [
  {
    attack: 'a tenant twice in the query of a POST: a gateway checks the first one, and the body has another',
    file: FILE,
    test: 'tenant in the query of a POST',
  },
  {
    attack: 'an empty tenant first, so that a check of the first value sees none',
    file: FILE,
    test: 'an empty tenant first',
  },
  {
    attack: 'a tenant whose name is percent-encoded once, which a gateway that compares texts does not see',
    file: FILE,
    test: 'tenant in a query, once encoded',
  },
  {
    attack: 'a tenant in the path that a gateway checks, and another one in the query',
    file: FILE,
    test: 'tenant in path and query',
  },
  {
    attack: 'contextId and context_id, read by two readers as two values',
    file: FILE,
    test: 'a member in two spellings in a query',
  },
  {
    attack: 'a member beside its alias of older clients',
    file: FILE,
    test: 'an alias of a member in a query',
  },
  {
    attack: 'null under the name that a filter reads, and the value under its other spelling',
    file: FILE,
    test: 'JSON-RPC: a null beside the member',
  },
  {
    attack: 'two spellings deep in a list of parts',
    file: FILE,
    test: 'JSON-RPC: a member in a list in two spellings',
  },
  {
    attack: 'A2A-Version in the query with an encoded name, so that two readers choose two codecs',
    file: FILE,
    test: 'the version in a query, once encoded',
  },
  {
    attack: 'one version in the header and another in the query',
    file: FILE,
    test: 'the version in header and query',
  },
  {
    attack: 'an empty version line before the real one, which joined lines turn into another text',
    file: FILE,
    test: 'an empty version and another one',
  },
  {
    attack: 'two versions in the metadata of gRPC, where the service already decides',
    file: FILE,
    test: 'gRPC: the same version in two metadata',
  },
  {
    attack: "service parameters of Cap'n Web that differ in case only, where the last one won",
    file: FILE,
    test: "Cap'n Web: a parameter in two spellings",
  },
  {
    attack: 'a credential as token and as key in one authenticate',
    file: FILE,
    test: 'plain arguments: a credential as token and as key',
  },
  {
    attack: 'the message of 0.3 under both of its names',
    file: FILE,
    test: '0.3: the message under two names',
  },
  {
    attack: 'the tenant of a file twice, so that a file of one tenant is read with the check of another',
    file: FILE,
    test: 'files: tenant in the query of a download',
  },
  {
    attack: "a refusal within a list of Cap'n Web's plain arguments, which filled the log with errors of the server",
    file: FILE,
    test: 'a list with a wrong context',
  },
];
