import type { Message } from '../../model/message.js';
import type { Dialect } from './dialect.js';
import { convertedList, type Members, member, present } from './members.js';
import { readPart, writePart } from './part.js';
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

/** `kind` may be missing. */
export function readMessage(dialect: Dialect, message: Members): object {
  return present({
    messageId: member(message, 'messageId'),
    contextId: member(message, 'contextId'),
    taskId: member(message, 'taskId'),
    role: readRole(member(message, 'role')),
    parts: convertedList(member(message, 'parts', 'content'), (part) => readPart(dialect, part)),
    metadata: member(message, 'metadata'),
    extensions: member(message, 'extensions'),
    referenceTaskIds: member(message, 'referenceTaskIds'),
  });
}
