import type { Message } from '../../model/message.js';
import type { Role } from '../../model/role.js';
import type { Dialect } from './dialect.js';
import { listReader, type Members, membersReader } from './members-reader.js';
import { partReader, writePart } from './part.js';

/** Writes a message. ProtoJSON has no member for references to other tasks: they are lost. */
export function writeMessage(dialect: Dialect, message: Message): object {
  const { messageId, contextId, taskId, metadata, extensions, referenceTaskIds } = message;
  const role = writeRole(dialect, message.role);
  const parts = message.parts.map((part) => writePart(dialect, part));
  return dialect.kinds
    ? { kind: 'message', messageId, contextId, taskId, role, parts, metadata, extensions, referenceTaskIds }
    : { messageId, contextId, taskId, role, content: parts, metadata, extensions };
}

/** Reads a message; its `kind` may be missing. */
export function messageReader(dialect: Dialect): (message: Members) => object {
  return membersReader([
    ['messageId'],
    ['contextId'],
    ['taskId'],
    ['role', undefined, readRole],
    ['parts', ['parts', 'content'], listReader(partReader(dialect))],
    ['metadata'],
    ['extensions'],
    ['referenceTaskIds'],
  ]);
}

/** Writes a role: `user` in the dialect with kinds, `ROLE_USER` in ProtoJSON. */
export function writeRole({ kinds }: Dialect, role: Role): string {
  if (!kinds) return role;
  return role === 'ROLE_AGENT' ? 'agent' : 'user';
}

/** Reads a role in any spelling. An unknown role stays as it is; the validator refuses it. */
function readRole(value: unknown): unknown {
  return value === 'user' ? 'ROLE_USER' : value === 'agent' ? 'ROLE_AGENT' : value;
}
