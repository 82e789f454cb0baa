/**
 * The key of a record is one integer: its task, and in the lower 31 bits its sequence number. The records of a task lie
 * together and in order. An insert compares only integers, even beside long rows.
 */
export const RECORD_KEY = '(? << 31) | ?';

/** The sequence number in a key. */
export const SEQ_OF_KEY = 'key & 0x7fffffff';

// Node.js 22 binds no numbered parameters, so a task is given twice.

/** Records of a task; takes the task, and the task again. */
export const OF_TASK = 'key >= ? << 31 AND key < (? + 1) << 31';

/** Records of a task after a sequence number; takes the task, the number, and the task again. */
export const AFTER_SEQ = 'key > (? << 31) | ? AND key < (? + 1) << 31';

/** Records of a task below a sequence number; takes the task, the task again, and the number. */
export const BELOW_SEQ = 'key >= ? << 31 AND key < (? << 31) | ?';
