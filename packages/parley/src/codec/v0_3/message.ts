import type { Message } from '../../model/message.js';
import type { Dialect } from './dialect.js';
import { listReader, type Members, membersReader } from './members.js';
import { partReader, writePart } from './part.js';
import { readRole, writeRole } from './role.js';

/** References to other tasks are lost in ProtoJSON, which had no member for them. */
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
